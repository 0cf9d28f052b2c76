// Schedules: the learning rate as a function of the step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

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

// lr · factor^⌊(step - 1) / every_steps⌋: torch's StepLR, by steps. Throws ValueError unless lr ≥
// 0, every_steps > 0 and 0 ≤ factor ≤ 1.
WEFT_API Schedule step_schedule(double lr, std::int64_t every_steps, double factor);

// From `first` at step 1 in a straight line to `last` at step `steps`, then `last`: a warmup, or a
// linear decay. Throws ValueError for rates < 0, and unless steps > 0.
WEFT_API Schedule linear_schedule(double first, double last, std::int64_t steps);

struct OneCycleOptions {
  double peak = 1e-3;
  std::int64_t total_steps = 1;
  // The part of the steps in which the rate rises.
  double rising = 0.3;
  // The first rate is peak / start_divisor, the last one that divided by end_divisor.
  double start_divisor = 25.0;
  double end_divisor = 1e4;
};

// Half a cosine up to the peak, half a cosine down to the last rate, which then stays (Smith and
// Topin, 2018; torch's OneCycleLR). Throws ValueError unless peak ≥ 0, 0 ≤ rising ≤ 1, total_steps
// > 0 and the divisors are > 0.
WEFT_API Schedule one_cycle_schedule(const OneCycleOptions& options);

// A schedule and the number of steps that it lasts.
struct ScheduleSegment {
  Schedule schedule;
  std::int64_t steps = 0;
};

// Schedules one after the other, each from its own step 1; the last one has no end: torch's
// SequentialLR. Throws ValueError when there is none, and unless the steps of all but the last are
// > 0.
WEFT_API Schedule sequence_of_schedules(std::vector<ScheduleSegment> segments);

// The product of a schedule and a factor, such as 0.1 for fine-tuning. Throws ValueError unless
// factor ≥ 0.
WEFT_API Schedule scaled_schedule(Schedule schedule, double factor);

}  // namespace weft
