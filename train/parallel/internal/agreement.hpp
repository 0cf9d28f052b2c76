// What all processes must have in common, and when their training ends. All functions are
// collective.
#pragma once

#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Throws ValueError, naming `what` and the process, in all of them when one has another value than
// the first process.
void check_same(ProcessGroup& processes, const std::string& what, const std::string& value);
// Of the version of weft and the program.
void check_same_program(ProcessGroup& processes);
// Of the names and shapes of the parameters, and their values.
template <class T>
void check_same_model(ProcessGroup& processes, const NamedParameters<T>& parameters);

// Whether the training of all processes ends: the signal of one, or one that stops, ends it.
class EndVote {
 public:
  explicit EndVote(ProcessGroup& processes);

  // `exit_status` is that of this process's interrupt, 0 without one.
  void take(int exit_status, bool stops);
  // Of the last vote: the largest exit status, and whether any process stops.
  int exit_status() const { return exit_status_; }
  bool stops() const { return stops_; }

 private:
  ProcessGroup& processes_;
  std::vector<double> votes_;  // of each process
  int exit_status_ = 0;
  bool stops_ = false;
};

}  // namespace weft
