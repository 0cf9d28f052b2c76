#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {
namespace {

std::string error_of_locking(const std::filesystem::path& folder) {
  return message_of<FileError>([&] { lock_directory(folder); });
}

}  // namespace

TEST_CASE("directory lock: only one lock at a time", "[train]") {
  const TemporaryFolder folder;
  std::optional<FileDescriptor> lock = lock_directory(folder.path());
  CHECK_THAT(error_of_locking(folder.path()),
             Catch::Contains("expected a directory that is not in use, got a locked directory"));
  const FileDescriptor moved = std::move(*lock);
  lock.reset();
  CHECK_FALSE(error_of_locking(folder.path()).empty());
}

TEST_CASE("directory lock: released with its descriptor, without a file left behind", "[train]") {
  const TemporaryFolder folder;
  { const FileDescriptor lock = lock_directory(folder.path()); }
  CHECK(error_of_locking(folder.path()).empty());
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("directory lock: released when the process is killed", "[train]") {
  const TemporaryFolder folder;
  int locked[2];
  REQUIRE(::pipe(locked) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FileDescriptor lock = lock_directory(folder.path());
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

TEST_CASE("directory lock: a path that is not a directory throws", "[train]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of_locking(folder / "none"),
             Catch::Contains("none\": No such file or directory"));
  write_bytes(folder / "file", "text");
  CHECK_THAT(error_of_locking(folder / "file"), Catch::Contains("Not a directory"));
  std::filesystem::create_directory(folder / "a\nb");
  const std::filesystem::path with_nul = folder / std::string("a\nb\0more", 8);
  CHECK_THAT(
      error_of_locking(with_nul),
      Catch::Contains("a\\x0ab\\x00more\": expected a path without NUL, got a path with NUL"));
}

}  // namespace weft
