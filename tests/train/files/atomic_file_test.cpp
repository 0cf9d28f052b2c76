#include "train/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& path, const std::string& text) {
  write_atomically(path, std::as_bytes(std::span(text)));
}

std::string error_of_writing(const fs::path& path, const std::string& text) {
  return message_of<FileError>([&] { write_text(path, text); });
}

// The sorted names of the files in a directory.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Drops the privileges of root, if the tests run as root.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (::geteuid() == 0) restore_ = ::seteuid(65534) == 0;
  }
  ~OrdinaryUser() {
    if (restore_) static_cast<void>(!::seteuid(0));
  }

 private:
  bool restore_ = false;
};

// Limits the size of files, as a full disk does.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("atomic file: a new file, then a replacement", "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "first");
  CHECK(bytes_of(folder / "file") == "first");
  write_text(folder / "file", "second, and longer");
  CHECK(bytes_of(folder / "file") == "second, and longer");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("atomic file: a missing directory throws", "[train]") {
  const TemporaryFolder folder;
  const std::string message = error_of_writing(folder / "none/file", "text");
  CHECK_THAT(
      message,
      Catch::Contains("none\": expected a directory to save in, got No such file or directory"));
}

TEST_CASE("atomic file: a read-only directory throws", "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  constexpr fs::perms nobody_writes{0555};
  fs::permissions(folder.path(), nobody_writes);
  {
    const OrdinaryUser user;
    CHECK_THAT(error_of_writing(folder / "file", "new"),
               Catch::Contains("expected a file that can be written, got Permission denied"));
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(bytes_of(folder / "file") == "old");
}

TEST_CASE("atomic file: on a full disk only the old file remains", "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  {
    const FullDisk disk(10'000);
    CHECK_THAT(
        error_of_writing(folder / "file", std::string(20'000, 'n')),
        Catch::Contains("file\": expected disk space for the whole file, got File too large"));
  }
  CHECK(bytes_of(folder / "file") == "old");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("atomic file: the temporary file of a killed process is overwritten", "[train]") {
  const TemporaryFolder folder;
  write_bytes(folder / "file.saving", std::string(10'000, 'x'));
  write_text(folder / "file", "new");
  CHECK(bytes_of(folder / "file") == "new");
  CHECK(names_in(folder.path()) == std::vector<std::string>{"file"});
}

TEST_CASE("atomic file: a second process that saves at the same time throws", "[train]") {
  const TemporaryFolder folder;
  const int other = ::open((folder / "file.saving").c_str(), O_CREAT | O_WRONLY, 0666);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  CHECK_THAT(error_of_writing(folder / "file", "text"),
             Catch::Contains("expected one process that saves the file, got two at the same time"));
  ::close(other);
  CHECK(error_of_writing(folder / "file", "text").empty());
}

TEST_CASE("atomic file: only regular files are replaced, also behind symbolic links", "[train]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "folder");
  CHECK_THAT(error_of_writing(folder / "folder", "text"),
             Catch::Contains("expected a regular file to replace, got a directory"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK_THAT(error_of_writing(folder / "pipe", "text"),
             Catch::Contains("got a device, pipe or socket"));

  fs::create_symlink("folder/file", folder / "link");
  write_text(folder / "link", "text");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(bytes_of(folder / "folder/file") == "text");
}

}  // namespace weft
