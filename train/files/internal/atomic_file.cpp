#include "train/files/internal/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

// Returns the file that a path refers to, following symbolic links.
fs::path resolved(fs::path path) {
  std::error_code error;
  constexpr int max_links = 40;  // as in the kernel
  for (int i = 0; i < max_links; ++i) {
    const fs::path target = fs::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

// Returns the status of the file to replace, or nothing if there is no file.
std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    fail_with_errno(path, "replace");
  }
  check_regular(path, status, "a regular file to replace");
  return status;
}

bool refers_to(const fs::path& path, const FileDescriptor& file) {
  struct stat named {};
  struct stat open {};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(file.get(), &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

[[noreturn]] void fail_with_concurrent_save(const fs::path& path) {
  fail_on_file(path, "a file that no other process is saving", "a file being saved");
}

// Creates and locks the temporary file. Removes a file left behind by a killed process.
FileDescriptor create_temporary(const fs::path& path, mode_t mode) {
  constexpr int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  for (int attempt = 0; attempt < 100; ++attempt) {
    FileDescriptor file(::open(path.c_str(), flags | O_WRONLY | O_CREAT | O_EXCL, mode));
    const bool created = file.valid();
    if (!created && errno == EEXIST) {
      // Opens it for reading only, because its permissions may not allow writing.
      file = FileDescriptor(::open(path.c_str(), flags | O_RDONLY));
      if (!file.valid() && errno == ENOENT) continue;
    }
    if (!file.valid()) fail_with_errno(path, "write");
    if (!file.lock_exclusive()) fail_with_concurrent_save(path);
    // Between opening and locking, another process may have renamed or removed it.
    if (!refers_to(path, file)) continue;
    if (created) return file;
    status_of(path);
    if (::unlink(path.c_str()) != 0) fail_with_errno(path, "remove");
  }
  fail_with_concurrent_save(path);
}

// Sets the group, permissions and owner of a new file to those of the replaced file.
void keep_access(const fs::path& path, const FileDescriptor& file, const struct stat& replaced) {
  struct stat created {};
  if (::fstat(file.get(), &created) != 0) fail_with_errno(path, "read the status of");
  mode_t mode = replaced.st_mode & 0777;
  constexpr auto unchanged = static_cast<uid_t>(-1);
  if (created.st_gid != replaced.st_gid && ::fchown(file.get(), unchanged, replaced.st_gid) != 0) {
    const mode_t others = mode & 07;
    mode &= ~mode_t{070} | others << 3;
  }
  if ((created.st_mode & 0777) != mode && ::fchmod(file.get(), mode) != 0)
    fail_with_errno(path, "keep the permissions of");
  // Only root can keep the owner. For other users, the file becomes theirs.
  if (created.st_uid != replaced.st_uid && ::fchown(file.get(), replaced.st_uid, unchanged) != 0)
    return;
}

// Makes the renaming durable in case of a power failure. Like PostgreSQL, accepts file systems that
// cannot sync directories.
void sync_directory(const fs::path& path, const FileDescriptor& directory) {
  if (::fsync(directory.get()) == 0) return;
  if (errno == EINVAL || errno == EBADF || errno == ENOTSUP || errno == ENOSYS) return;
  fail_with_errno(path, "sync the directory of");
}

fs::path parent_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// Exchanges the names of two files. Returns false if the system or its file system cannot.
bool exchange(const fs::path& a, const fs::path& b) {
#if defined(RENAME_EXCHANGE)
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#elif defined(RENAME_SWAP)
  return ::renamex_np(a.c_str(), b.c_str(), RENAME_SWAP) == 0;
#else
  return false;
#endif
}

}  // namespace

struct AtomicFile::State {
  explicit State(const fs::path& path)
      : target(resolved(path)),
        replaced(status_of(target)),
        directory(::open(parent_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (!directory.valid()) fail_with_errno(parent_of(target), "open directory");
    temporary = target;
    temporary += ".saving";
    file = create_temporary(temporary, replaced ? 0600 : 0666);
  }
  ~State() {
    if (!renamed) ::unlink(temporary.c_str());
  }

  fs::path target, temporary;
  std::optional<struct stat> replaced;
  FileDescriptor directory, file;
  bool renamed = false;
};

AtomicFile::AtomicFile(const fs::path& path) {
  check_path(path);
  state_ = std::make_unique<State>(path);
}
AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(state_->file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(state_->target, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  const auto& [target, temporary, replaced, directory, file, renamed] = *state_;
  if (replaced) keep_access(target, file, *replaced);
  if (::fsync(file.get()) != 0) fail_with_errno(target, "sync");
  // Other processes may read the file as soon as it has its new name.
  if (!file.lock_shared()) fail_with_concurrent_save(target);
  // Gives the old file the temporary name, if the file system can exchange names.
  const bool exchanged = replaced && exchange(temporary, target);
  if (!exchanged && ::rename(temporary.c_str(), target.c_str()) != 0)
    fail_with_errno(target, "replace");
  state_->renamed = !exchanged;
  try {
    sync_directory(target, directory);
  } catch (const FileError&) {
    if (exchanged)
      exchange(temporary, target);
    else if (!replaced)
      ::unlink(target.c_str());
    throw;
  }
}

void write_atomically(const fs::path& path, std::span<const std::byte> contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace weft
