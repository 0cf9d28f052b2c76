// Checks that all processes agree, and a vote on when training ends. All functions are collective.
#pragma once

#include <string>

#include "weft/layers/module.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Throws ValueError in all processes, naming `what` and the process, if a process has a different
// value than the root process.
void check_same(ProcessGroup& processes, const std::string& what, const std::string& value);
// Throws ValueError if processes run different programs or versions of weft.
void check_same_program(ProcessGroup& processes);
// Throws ValueError if the names, shapes or values of the parameters differ between processes.
template <class T>
void check_same_model(ProcessGroup& processes, const NamedParameters<T>& parameters);

// Whether training ends.
struct EndVote {
  int exit_status = 0;  // exit status of an interrupt; 0 if there was none
  bool stops = false;
};

// Returns the vote of all processes: a signal or a stop in one process ends training in all of
// them. If exit statuses differ, the largest is returned.
EndVote common_vote(ProcessGroup& processes, const EndVote& own);

}  // namespace weft
