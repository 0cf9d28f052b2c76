#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include <weft/autograd/error.hpp>
#include <weft/train/interrupt.hpp>
#include "tests/catch.hpp"

using namespace weft;

TEST_CASE("interrupt: SIGINT and SIGTERM only set a flag", "[train]") {
  for (int signal : {SIGINT, SIGTERM}) {
    const Interrupt interrupt;
    CHECK_FALSE(interrupt.requested());
    std::raise(signal);
    CHECK(interrupt.requested());
  }
}

TEST_CASE("interrupt: the second signal ends the program", "[train]") {
  const pid_t child = fork();
  if (child == 0) {
    const Interrupt interrupt;
    std::raise(SIGINT);
    std::raise(SIGINT);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("interrupt: previous handlers are restored", "[train]") {
  static volatile std::sig_atomic_t handled = 0;
  const auto before = std::signal(SIGTERM, [](int) { handled = 1; });
  { const Interrupt interrupt; }
  std::raise(SIGTERM);
  CHECK(handled == 1);
  std::signal(SIGTERM, before);
}

TEST_CASE("interrupt: a second object throws", "[train]") {
  const Interrupt interrupt;
  CHECK_THROWS_AS(Interrupt(), Error);
}
