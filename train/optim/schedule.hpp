// Schedules: the learning rate as a function of the step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "weft/autograd/export.hpp"

namespace weft {

// The learning rate of each update; the first update is step 1.
class WEFT_API Schedule {
 public:
  // Throws ValueError for an empty function.
  Schedule(std::string description, std::function<double(std::int64_t step)> learning_rate);

  double operator()(std::int64_t step) const { return learning_rate_(step); }
  // The kind and its options, "constant, lr 0.001".
  const std::string& description() const { return description_; }

 private:
  std::string description_;
  std::function<double(std::int64_t)> learning_rate_;
};

// Always `lr`. Throws ValueError unless lr ≥ 0.
WEFT_API Schedule constant_schedule(double lr);

struct WarmupCosineOptions {
  // The highest learning rate, reached at step `warmup_steps`.
  double peak = 1e-3;
  std::int64_t warmup_steps = 0;
  // The step at which the cosine ends; after it, `final` stays.
  std::int64_t total_steps = 1;
  double final = 0.0;
};

// Linear from 0 to the peak, then half a cosine down (Loshchilov and Hutter, 2017):
// final + (peak - final) · (1 + cos(π · (step - warmup) / (total - warmup))) / 2.
// Throws ValueError unless 0 ≤ final ≤ peak and 0 ≤ warmup_steps < total_steps.
WEFT_API Schedule warmup_cosine_schedule(const WarmupCosineOptions& options);

struct InverseSquareRootOptions {
  // The model's width.
  std::int64_t num_hiddens = 512;
  std::int64_t warmup_steps = 4000;
  double factor = 1.0;
};

// factor · num_hiddens^-½ · min(step^-½, step · warmup_steps^-1½)  (Vaswani et al., 2017,
// equation 3). Throws ValueError unless every option is > 0.
WEFT_API Schedule inverse_square_root_schedule(const InverseSquareRootOptions& options);

}  // namespace weft
