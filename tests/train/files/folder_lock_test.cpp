#include "train/files/folder_lock.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

std::string error_of_locking(const std::filesystem::path& folder) {
  return message_of<FileError>([&] { FolderLock lock(folder); });
}

}  // namespace

TEST_CASE("folder lock: a folder has one holder at a time", "[train]") {
  const TemporaryFolder folder;
  std::optional<FolderLock> lock(folder.path());
  CHECK_THAT(error_of_locking(folder.path()),
             Catch::Contains("expected a folder that nobody else trains in, got one that another"));
  const FolderLock moved = std::move(*lock);
  lock.reset();
  CHECK_FALSE(error_of_locking(folder.path()).empty());
}

TEST_CASE("folder lock: it ends with its object and leaves nothing behind", "[train]") {
  const TemporaryFolder folder;
  { const FolderLock lock(folder.path()); }
  CHECK(error_of_locking(folder.path()).empty());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("folder lock: it ends with a killed process", "[train]") {
  const TemporaryFolder folder;
  int locked[2];
  REQUIRE(::pipe(locked) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock lock(folder.path());
    static_cast<void>(!::write(locked[1], "x", 1));
    ::pause();
  }
  char byte = 0;
  REQUIRE(::read(locked[0], &byte, 1) == 1);
  CHECK_FALSE(error_of_locking(folder.path()).empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(error_of_locking(folder.path()).empty());
  ::close(locked[0]);
  ::close(locked[1]);
}

TEST_CASE("folder lock: what is no folder is named", "[train]") {
  const TemporaryFolder folder;
  CHECK_THAT(
      error_of_locking(folder / "none"),
      Catch::Contains("none\": expected a folder to work in, got No such file or directory"));
  write_bytes(folder / "file", "text");
  CHECK_THAT(error_of_locking(folder / "file"),
             Catch::Contains("expected a folder to work in, got Not a directory"));
}

}  // namespace weft
