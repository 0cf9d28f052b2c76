// SignalHandler: turns signals that end a program, such as Ctrl-C, into a flag that the program
// polls.
#pragma once

#include <csignal>

#include "weft/autograd/export.hpp"

namespace weft {

// During its lifetime, these signals only set a flag: SIGINT (Ctrl-C), SIGTERM, SIGUSR1 (which
// mpirun and batch systems pass on), SIGHUP (a closed terminal) and SIGPIPE (the reader of a pipe
// is gone; further writes to it fail). A second SIGINT, SIGTERM or SIGUSR1 terminates the program.
// SIGHUP and SIGPIPE remain ignored if they were ignored before, for example by nohup.
//
// On Ctrl-C, Open MPI's mpirun sends SIGCONT and then SIGTERM, and ends the process soon after. A
// SIGTERM after a SIGCONT therefore counts as SIGINT; SIGCONT alone does not set the flag.
//
// At most one SignalHandler may exist at a time.
//   SignalHandler interrupt;
//   while (!interrupt.requested()) optimizer.step();
class WEFT_API SignalHandler {
 public:
  SignalHandler();  // throws Error if another SignalHandler exists
  ~SignalHandler();
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

  bool requested() const;  // whether a signal has arrived
  // Returns the exit status that tells a shell which signal arrived first: 128 + its number, so 130
  // for Ctrl-C. It is 0 before a signal.
  int exit_status() const;

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGPIPE, SIGCONT};

  struct sigaction previous_[sizeof signals / sizeof *signals];
};

}  // namespace weft
