// ParameterWatch: measures how a training step changes each parameter, on a sample of its elements.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/parameter.hpp"
#include "train/report/internal/gradient_noise.hpp"
#include "train/report/internal/training_warnings.hpp"

namespace weft {

template <class T>
class ParameterWatch {
 public:
  // Steps between measurements. The first steps are not measured.
  static constexpr std::int64_t every_steps = 100;

  // Call `before_update` between backward and the optimizer's step, and `after_update` after the
  // step. The gradients of `parameters` are multiplied by `gradient_scale`.
  void before_update(std::int64_t step, const NamedParameters<T>& parameters,
                     double gradient_scale = 1.0);
  void after_update(const NamedParameters<T>& parameters);
  // Returns the measurements of the last measured step; empty before the first one, and after
  // `clear`.
  const std::vector<ParameterUpdate>& updates() const { return updates_; }
  void clear() { updates_.clear(); }

  GradientNoise noise;  // filled in by the trainer if TrainerOptions::update_statistics is set

 private:
  bool is_watching_ = false;
  std::vector<ParameterUpdate> updates_;
  std::vector<std::vector<T>> values_;  // the samples, before the step
};

}  // namespace weft
