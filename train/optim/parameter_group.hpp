// ParameterGroup: parameters that an optimizer updates with settings of their own.
#pragma once

#include <optional>
#include <vector>

#include "weft/layers/name_filter.hpp"

namespace weft {

// For example {.parameters = below("encoder"), .lr_factor = 0.1} for the pretrained part of a
// model.
struct ParameterGroup {
  // Selects the parameters. One that several groups select belongs to the first of them, one that
  // none selects has the optimizer's own settings.
  NameFilter parameters;
  // ≥ 0, times the optimizer's learning rate, also when a schedule sets that.
  double lr_factor = 1.0;
  // ≥ 0; when not given, that of the optimizer.
  std::optional<double> weight_decay = {};
};

using ParameterGroups = std::vector<ParameterGroup>;

}  // namespace weft
