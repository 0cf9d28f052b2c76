#include "examples/common/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <weft/autograd/error.hpp>

extern char** environ;

namespace weft::examples {
namespace {

// Reads until the write end is closed.
std::string read_all(int descriptor) {
  std::string text;
  char block[4096];
  for (;;) {
    const ssize_t count = read(descriptor, block, sizeof block);
    if (count > 0)
      text.append(block, static_cast<std::size_t>(count));
    else if (count == 0 || errno != EINTR)
      return text;
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  int errors[2];
  if (pipe(errors) != 0)
    throw Error("process '" + command.front() + "': cannot create a pipe: " + std::strerror(errno));
  for (const int end : errors) fcntl(end, F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(errors[1]);

  ProcessResult result;
  if (error == 0) {
    result.errors = read_all(errors[0]);
    const int status = wait_for(process);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      result.outcome = ProcessResult::Outcome::succeeded;
  }
  close(errors[0]);
  if (error == ENOENT)
    result.outcome = ProcessResult::Outcome::not_found;
  else if (error != 0)
    throw Error("cannot start process '" + command.front() + "': " + std::strerror(error));
  return result;
}

}  // namespace weft::examples
