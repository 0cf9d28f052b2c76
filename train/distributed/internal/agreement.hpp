// What all processes must have in common, and what the first one does for all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/train/distributed/process_group.hpp"

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

// Runs `work` in the first process. What it throws, all throw. Collective.
void on_first(ProcessGroup& processes, const std::function<void()>& work);

}  // namespace weft
