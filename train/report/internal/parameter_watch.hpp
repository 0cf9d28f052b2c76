// ParameterWatch: what a step of training does to each parameter, seen in a sample of elements.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/parameter.hpp"
#include "train/report/internal/training_warnings.hpp"

namespace weft {

template <class T>
class ParameterWatch {
 public:
  // One step in so many is looked at, not the first ones.
  static constexpr std::int64_t every_steps = 100;

  // Between backward and the step of the optimizer, and after it. The gradients are those of the
  // parameters times `gradient_scale`.
  void before_update(std::int64_t step, const NamedParameters<T>& parameters,
                     double gradient_scale = 1.0);
  void after_update(const NamedParameters<T>& parameters);
  // Of the last step that was looked at; empty until then, and again after `clear`.
  const std::vector<ParameterUpdate>& updates() const { return updates_; }
  void clear() { updates_.clear(); }

 private:
  bool is_watching_ = false;
  std::vector<ParameterUpdate> updates_;
  std::vector<std::vector<T>> values_;  // the samples, before the step
};

}  // namespace weft
