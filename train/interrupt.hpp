// Interrupt: Ctrl-C as a request that a program answers when it is ready to.
#pragma once

#include <csignal>

namespace weft {

// While it lives, the first SIGINT or SIGTERM only sets a flag; the second one of its kind ends the
// program as if there were no Interrupt. One at a time: a second object is an Error.
class Interrupt {
 public:
  // What a program that ended early returns from main.
  static constexpr int exit_status = 130;

  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;

 private:
  struct sigaction previous_interrupt_;
  struct sigaction previous_terminate_;
};

}  // namespace weft
