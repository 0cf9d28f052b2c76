// A library to preload: while armed, it counts the system calls that write files, and makes one of
// them, or all from one on, fail, write less than asked, or kill the process.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int short_write = -1, kill_process = -2;  // beside numbers of errors

std::atomic<bool> armed = false;
std::atomic<long> seen = 0;
std::atomic<long> failing = 0;  // the number of the call that fails; 0: none
std::atomic<bool> ever_after = false;
std::atomic<int> failure = 0;

// Armed from the start by the environment: WEFT_FAILING_CALL, WEFT_FAILURE.
const bool from_environment = [] {
  const char* call = std::getenv("WEFT_FAILING_CALL");
  const char* error = std::getenv("WEFT_FAILURE");
  if (!call || !error) return false;
  failing = std::atol(call);
  failure = std::atoi(error);
  ever_after = failure > 0;
  armed = true;
  return true;
}();

// The failure of this call; 0 when it succeeds.
int next() {
  if (!armed) return 0;
  const long number = ++seen;
  if (failing == 0 || (ever_after ? number < failing : number != failing)) return 0;
  if (failure == kill_process) ::kill(::getpid(), SIGKILL);
  return failure;
}

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The call, or its failure. A short write is one of half the bytes.
template <class Function, class... Arguments>
int call(const char* name, Function*, Arguments... arguments) {
  if (const int error = next(); error > 0) {
    errno = error;
    return -1;
  }
  return original<Function>(name)(arguments...);
}

bool for_writing(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0; }

}  // namespace

extern "C" {

// Begins to count; the call of this number fails.
void weft_arm(long call_number, int error) {
  seen = 0;
  failing = call_number;
  failure = error;
  ever_after = false;
  armed = true;
}
// Returns how many calls there were.
long weft_disarm() {
  armed = false;
  return seen;
}

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  // A folder is opened to save in.
  if (for_writing(flags) || (flags & O_DIRECTORY) != 0)
    if (const int error = next(); error > 0) {
      errno = error;
      return -1;
    }
  return original<int(const char*, int, mode_t)>("open")(path, flags, mode);
}

ssize_t write(int file, const void* data, size_t size) {
  const int error = file > 2 ? next() : 0;
  if (error > 0) {
    errno = error;
    return -1;
  }
  if (error == short_write && size > 1) size /= 2;
  return original<ssize_t(int, const void*, size_t)>("write")(file, data, size);
}
ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  const int error = next();
  if (error > 0) {
    errno = error;
    return -1;
  }
  if (error == short_write && size > 1) size /= 2;
  return original<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, data, size, offset);
}

int fsync(int file) { return call("fsync", &fsync, file); }
int fdatasync(int file) { return call("fdatasync", &fdatasync, file); }
int ftruncate(int file, off_t size) noexcept { return call("ftruncate", &ftruncate, file, size); }
int rename(const char* from, const char* to) noexcept { return call("rename", &rename, from, to); }
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  return call("renameat2", &renameat2, from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept { return call("link", &link, from, to); }
int fchmod(int file, mode_t mode) noexcept { return call("fchmod", &fchmod, file, mode); }
// Closes the file even when it fails, as Linux does.
int close(int file) {
  const int error = file > 2 ? next() : 0;
  const int result = original<int(int)>("close")(file);
  if (error <= 0) return result;
  errno = error;
  return -1;
}
}
