#include "train/files/internal/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/ordinary_user.hpp"
#include "tests/train/temporary_folder.hpp"

namespace {

// The error of fsync(2) for directories; none when 0.
std::atomic<int> fsync_error_of_directories = 0;

}  // namespace

// In place of the C library's.
extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (fsync_error_of_directories != 0 && ::fstat(descriptor, &status) == 0 &&
      S_ISDIR(status.st_mode)) {
    errno = fsync_error_of_directories;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

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

// The permissions that new files do not get.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

struct stat status_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status;
}
mode_t mode_of(const fs::path& path) { return status_of(path).st_mode & 07777; }

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
  CHECK_THAT(message, Catch::Contains("none\": No such file or directory"));
}

TEST_CASE("atomic file: a read-only directory throws", "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  constexpr fs::perms nobody_writes{0555};
  fs::permissions(folder.path(), nobody_writes);
  {
    const OrdinaryUser user;
    CHECK_THAT(error_of_writing(folder / "file", "new"), Catch::Contains("Permission denied"));
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(bytes_of(folder / "file") == "old");
}

TEST_CASE("atomic file: on a full disk only the old file remains", "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  {
    const FullDisk disk(10'000);
    CHECK_THAT(error_of_writing(folder / "file", std::string(20'000, 'n')),
               Catch::Contains("file\": File too large"));
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

TEST_CASE("atomic file: what a killed process left behind may be read-only, but is a file",
          "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  write_bytes(folder / "file.saving", "part");
  fs::permissions(folder / "file.saving", fs::perms{0444});
  fs::permissions(folder.path(), fs::perms{0777});
  if (::geteuid() == 0)
    for (const char* name : {"file", "file.saving"})
      REQUIRE(::chown((folder / name).c_str(), 65534, 65534) == 0);
  {
    const OrdinaryUser user;
    write_text(folder / "file", "new");
  }
  CHECK(bytes_of(folder / "file") == "new");
  REQUIRE(::mkfifo((folder / "file.saving").c_str(), 0666) == 0);
  CHECK_THAT(error_of_writing(folder / "file", "newer"),
             Catch::Contains("file.saving\": expected a regular file to replace, got a device"));
  CHECK(fs::is_fifo(folder / "file.saving"));
  CHECK(bytes_of(folder / "file") == "new");
}

TEST_CASE("atomic file: a second process that saves at the same time throws", "[train]") {
  const TemporaryFolder folder;
  const int other = ::open((folder / "file.saving").c_str(), O_CREAT | O_WRONLY, 0666);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  CHECK_THAT(
      error_of_writing(folder / "file", "text"),
      Catch::Contains("expected a file that no other process is saving, got a file being saved"));
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

  fs::create_symlink("loop", folder / "loop");
  CHECK_THAT(error_of_writing(folder / "loop", "text"),
             Catch::Contains("loop\": Too many levels of symbolic links"));
  CHECK(fs::is_symlink(folder / "loop"));
}

TEST_CASE("atomic file: a new file has the mode that the umask leaves", "[train]") {
  const TemporaryFolder folder;
  for (const auto& [mask, mode] : {std::pair<mode_t, mode_t>(022, 0644), {027, 0640}, {0, 0666}}) {
    const Umask umask(mask);
    write_text(folder / "file", "text");
    CHECK(mode_of(folder / "file") == mode);
    fs::remove(folder / "file");
    // What a killed process left behind does not matter.
    write_bytes(folder / "file.saving", "old");
    fs::permissions(folder / "file.saving", fs::perms{0600});
    write_text(folder / "file", "text");
    CHECK(mode_of(folder / "file") == mode);
    fs::remove(folder / "file");
  }
}

TEST_CASE("atomic file: a file that is replaced keeps its mode, also behind a link", "[train]") {
  const TemporaryFolder folder;
  write_text(folder / "file", "old");
  fs::create_symlink("file", folder / "link");
  for (const mode_t mode : {0600u, 0640u, 0666u, 0444u, 0755u}) {
    for (const mode_t mask : {0u, 077u}) {
      fs::permissions(folder / "file", fs::perms{mode});
      const Umask umask(mask);
      write_text(folder / "file", "new");
      CHECK(mode_of(folder / "file") == mode);
      write_text(folder / "link", "newer");
      CHECK(mode_of(folder / "file") == mode);
    }
  }
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(bytes_of(folder / "file") == "newer");
}

TEST_CASE("atomic file: another user's file stays theirs, or is not opened to more", "[train]") {
  if (::geteuid() != 0) return;
  const TemporaryFolder folder;
  constexpr uid_t user = 1234, group = 2345;
  write_text(folder / "file", "old");
  REQUIRE(::chown((folder / "file").c_str(), user, group) == 0);
  fs::permissions(folder / "file", fs::perms{0640});
  write_text(folder / "file", "new");
  CHECK(status_of(folder / "file").st_uid == user);
  CHECK(status_of(folder / "file").st_gid == group);
  CHECK(mode_of(folder / "file") == 0640);

  // A user who may not give the file to that group.
  fs::permissions(folder.path(), fs::perms{0777});
  fs::permissions(folder / "file", fs::perms{0664});
  {
    const OrdinaryUser ordinary;
    write_text(folder / "file", "newer");
  }
  CHECK(bytes_of(folder / "file") == "newer");
  CHECK(status_of(folder / "file").st_gid != group);
  CHECK(mode_of(folder / "file") == 0644);
}

TEST_CASE("atomic file: when a new name does not reach the disk, the old file is restored",
          "[train]") {
  for (const bool replace : {true, false}) {
    const TemporaryFolder folder;
    if (replace) write_text(folder / "file", "old");
    fsync_error_of_directories = EIO;
    const std::string message = error_of_writing(folder / "file", "new");
    fsync_error_of_directories = 0;
    CHECK_THAT(message, Catch::Contains("file\": Input/output error"));
    CHECK(bytes_of(folder / "file") == (replace ? "old" : ""));
    CHECK(names_in(folder.path()) ==
          (replace ? std::vector<std::string>{"file"} : std::vector<std::string>{}));
  }
}

TEST_CASE("atomic file: file systems that cannot sync a directory are used as they are",
          "[train]") {
  const TemporaryFolder folder;
  for (const int error : {EINVAL, ENOTSUP, EBADF, ENOSYS}) {
    fsync_error_of_directories = error;
    CHECK(error_of_writing(folder / "file", "text") == "");
    fsync_error_of_directories = 0;
  }
}

TEST_CASE("atomic file: a path with a NUL, or none, throws", "[train]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of_writing(folder / std::string("file\0more", 9), "text"),
             Catch::Contains("file\\x00more\": expected a path without NUL, got a path with NUL"));
  CHECK_THAT(error_of_writing("", "text"),
             Catch::Contains("\"\": expected a nonempty path, got an empty path"));
  CHECK(fs::is_empty(folder.path()));
  CHECK_FALSE(fs::exists(".saving"));
}

}  // namespace weft
