// ParameterWatch: measures how a training step changes each parameter, on a sample of its elements.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/parameter.hpp"
#include "train/report/internal/training_warnings.hpp"

namespace weft {

template <class T>
class ParameterWatch {
 public:
  // Every this many steps, one step is measured; the first steps are not.
  static constexpr std::int64_t every_steps = 100;

  // Between backward and the step of the optimizer, and after it. The gradients are those of the
  // parameters times `gradient_scale`.
  void before_update(std::int64_t step, const NamedParameters<T>& parameters,
                     double gradient_scale = 1.0);
  void after_update(const NamedParameters<T>& parameters);
  // The measurements of the last measured step; empty before it, and after `clear`.
  const std::vector<ParameterUpdate>& updates() const { return updates_; }
  void clear() { updates_.clear(); }

 private:
  bool is_watching_ = false;
  std::vector<ParameterUpdate> updates_;
  std::vector<std::vector<T>> values_;  // the samples, before the step
};

}  // namespace weft
