// SignalHandler: turns signals that end a program, such as Ctrl-C, into a flag that the program
// polls.
#pragma once

#include <csignal>

#include "weft/autograd/export.hpp"

namespace weft {

// During its lifetime, these signals only set a flag: SIGINT (Ctrl-C), SIGTERM, SIGUSR1 (which
// mpirun and batch systems pass on), SIGHUP (a closed terminal) and SIGPIPE (the reader of a pipe
// is gone; further writes to it fail). A second SIGINT, SIGTERM or SIGUSR1 terminates the program.
// SIGHUP and SIGPIPE stay ignored where they were, as by nohup. At a Ctrl-C, Open MPI's mpirun
// sends a SIGCONT and later a SIGTERM, which then counts as SIGINT, and ends the process soon after
// it; a SIGCONT alone, which follows a stop, is none of these. At most one object may exist: the
// constructor of a second one throws Error.
//   SignalHandler interrupt;
//   while (!interrupt.requested()) optimizer.step();
class WEFT_API SignalHandler {
 public:
  SignalHandler();  // throws Error for a second object
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  bool requested() const;  // whether a signal has arrived
  // The exit status by which a shell knows the first signal: 128 + its number, 130 after Ctrl-C; 0
  // before a signal.
  int exit_status() const;

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGPIPE, SIGCONT};

  struct sigaction previous_[sizeof signals / sizeof *signals];
};

}  // namespace weft
