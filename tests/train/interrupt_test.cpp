#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include <weft/autograd/error.hpp>
#include <weft/train/interrupt.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

// The status with which a process ends that runs `action` and exits with 0.
template <class Action>
int status_of(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    action();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

// What nohup, or a program that starts this one, ignores.
void do_not_ignore(int signal) { REQUIRE(std::signal(signal, SIG_DFL) != SIG_ERR); }

}  // namespace

TEST_CASE("interrupt: signals only set a flag, and the exit status is 128 and the signal",
          "[train]") {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGPIPE}) {
    do_not_ignore(signal);
    const SignalHandler interrupt;
    CHECK_FALSE(interrupt.requested());
    CHECK(interrupt.exit_status() == 0);
    std::raise(signal);
    CHECK(interrupt.requested());
    CHECK(interrupt.exit_status() == 128 + signal);
  }
}

TEST_CASE("interrupt: SIGCONT and then SIGTERM by mpirun are a Ctrl-C", "[train]") {
  const char* const name = "OMPI_COMM_WORLD_SIZE";
  const bool is_set = std::getenv(name) != nullptr;
  if (!is_set) {
    const SignalHandler interrupt;
    std::raise(SIGCONT);
    std::raise(SIGTERM);
    CHECK(interrupt.exit_status() == 128 + SIGTERM);
  }
  setenv(name, "2", 0);
  {
    const SignalHandler interrupt;
    std::raise(SIGCONT);
    CHECK_FALSE(interrupt.requested());
    std::raise(SIGTERM);
    CHECK(interrupt.exit_status() == 130);
  }
  if (!is_set) unsetenv(name);
}

TEST_CASE("interrupt: the exit status is that of the first signal", "[train]") {
  do_not_ignore(SIGHUP);
  const SignalHandler interrupt;
  std::raise(SIGHUP);
  std::raise(SIGTERM);
  CHECK(interrupt.exit_status() == 128 + SIGHUP);
}

TEST_CASE("interrupt: a second SIGINT, SIGTERM or SIGUSR1 ends the program", "[train]") {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const int status = status_of([&] {
      const SignalHandler interrupt;
      std::raise(signal);
      std::raise(signal);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }
}

TEST_CASE("interrupt: terminals and pipes that are closed may signal it more than once",
          "[train]") {
  for (const int signal : {SIGHUP, SIGPIPE}) {
    do_not_ignore(signal);
    const int status = status_of([&] {
      const SignalHandler interrupt;
      for (int i = 0; i < 3; ++i) std::raise(signal);
      _exit(interrupt.exit_status());
    });
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + signal);
  }
}

TEST_CASE("interrupt: a signal that is ignored on purpose, as by nohup, stays ignored", "[train]") {
  for (const int signal : {SIGHUP, SIGPIPE}) {
    const auto before = std::signal(signal, SIG_IGN);
    {
      const SignalHandler interrupt;
      std::raise(signal);
      CHECK_FALSE(interrupt.requested());
    }
    CHECK(std::signal(signal, before) == SIG_IGN);
  }
}

TEST_CASE("interrupt: previous handlers are restored", "[train]") {
  static volatile std::sig_atomic_t handled = 0;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGPIPE}) {
    handled = 0;
    const auto before = std::signal(signal, [](int) { handled = 1; });
    { const SignalHandler interrupt; }
    std::raise(signal);
    CHECK(handled == 1);
    std::signal(signal, before);
  }
}

TEST_CASE("interrupt: a second object throws", "[train]") {
  const SignalHandler interrupt;
  CHECK_THROWS_AS(SignalHandler(), Error);
}
