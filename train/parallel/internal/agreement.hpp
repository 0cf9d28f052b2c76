// What all processes must have in common, and what the first one does for all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Something that is the same in all processes, under its name in messages.
struct Common {
  std::string name;
  std::string value;
};

// The version of weft and the program.
std::vector<Common> common_program();
// The names and shapes of the parameters, and their values.
template <class T>
std::vector<Common> common_model(const NamedParameters<T>& parameters);

// Throws ValueError, naming what differs and in which process, in all of them. Collective.
void check_common(ProcessGroup& processes, const std::vector<Common>& items);

// Whether the training of all processes ends: the signal of one, or one that stops, ends it.
class EndVote {
 public:
  // Null for one process.
  explicit EndVote(ProcessGroup* processes);

  // Collective: `exit_status` is that of this process's interrupt, 0 without one.
  void take(int exit_status, bool stops);
  // Of the last vote: the largest exit status, and whether any process stops.
  int exit_status() const { return exit_status_; }
  bool stops() const { return stops_; }

 private:
  ProcessGroup* processes_;
  std::vector<double> votes_;  // of each process
  std::vector<int> counts_;
  int exit_status_ = 0;
  bool stops_ = false;
};

// Runs `work` in the first process. What it throws, all throw. Collective.
void on_first(ProcessGroup& processes, const std::function<void()>& work);

}  // namespace weft
