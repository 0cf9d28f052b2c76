// ParameterGroup: parameters that an optimizer updates with separate settings.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// A group of parameters with separate settings, for example a tenth of the learning rate for a
// pretrained encoder (torch.optim's param_groups):
//   AdamW optimizer(model, {.groups = {{.parameters = below("encoder"), .lr_factor = 0.1}}});
struct ParameterGroup {
  // Selects the parameters. A parameter selected by several groups belongs to the first of them. A
  // parameter selected by no group has the optimizer's settings.
  NameFilter parameters;
  // Multiplies the optimizer's learning rate, even if a schedule sets it. Must be ≥ 0.
  double lr_factor = 1.0;
  // Weight decay, ≥ 0. If not set, the optimizer's weight decay applies.
  std::optional<double> weight_decay = {};
};

// The groups of an optimizer. The first group that selects a parameter applies to it.
using ParameterGroups = std::vector<ParameterGroup>;

// Returns `options` with groups that select a parameter of the model by any of its names, since a
// tied parameter has several.
template <class T, class Options>
Options with_tied_groups(const Module<T>& model, Options options) {
  for (ParameterGroup& group : options.groups)
    group.parameters = with_tied_names(model, std::move(group.parameters));
  return options;
}

}  // namespace weft
