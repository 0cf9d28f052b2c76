// ParameterGroup: parameters that an optimizer updates with settings of their own.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "weft/layers/module.hpp"
#include "weft/layers/name_filter.hpp"

namespace weft {

// Parameters with settings of their own, such as a tenth of the rate for the pretrained part:
//   AdamW optimizer(model, {.groups = {{.parameters = below("encoder"), .lr_factor = 0.1}}});
struct ParameterGroup {
  // Selects the parameters. One that several groups select belongs to the first of them, one that
  // none selects has the optimizer's own settings.
  NameFilter parameters;
  // ≥ 0, times the optimizer's learning rate, also when a schedule sets that.
  double lr_factor = 1.0;
  // ≥ 0; when not given, that of the optimizer.
  std::optional<double> weight_decay = {};
};

// See ParameterGroup::parameters for the parameters that several of them select.
using ParameterGroups = std::vector<ParameterGroup>;

// Returns an optimizer's options whose groups select a parameter of the model by any of its names
// (tied weights).
template <class T, class Options>
Options with_tied_groups(const Module<T>& model, Options options) {
  for (ParameterGroup& group : options.groups)
    group.parameters = with_tied_names(model, std::move(group.parameters));
  return options;
}

}  // namespace weft
