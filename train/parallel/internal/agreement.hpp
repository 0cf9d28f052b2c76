// What all processes must have in common, and when their training ends. All functions are
// collective.
#pragma once

#include <string>

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

// Whether training ends.
struct EndVote {
  int exit_status = 0;  // of an interrupt; 0 without one
  bool stops = false;
};

// The vote of all processes: the signal of one, or one that stops, ends the training of all. Of
// several exit statuses, the largest counts.
EndVote common_vote(ProcessGroup& processes, const EndVote& own);

}  // namespace weft
