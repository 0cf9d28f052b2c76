// Interrupt: turns Ctrl-C into a flag that a program polls.
#pragma once

#include <csignal>

#include "weft/autograd/export.hpp"

namespace weft {

// During its lifetime, the first SIGINT or SIGTERM only sets a flag; a second signal of the same
// kind terminates the program. At most one object may exist: the constructor of a second one throws
// Error.
class WEFT_API Interrupt {
 public:
  // The exit status of an interrupted program.
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
