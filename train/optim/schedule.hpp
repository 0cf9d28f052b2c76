// Schedules: the learning rate as a function of the step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// A function from the number of an update, starting with step 1, to its learning rate.
//   const Schedule schedule("halves", [](std::int64_t step) { return std::pow(0.5, step); });
class WEFT_API Schedule {
 public:
  // Throws ValueError for an empty function.
  Schedule(std::string description, std::function<double(std::int64_t step)> learning_rate);

  // Returns the learning rate of a step.
  double operator()(std::int64_t step) const { return learning_rate_(step); }
  // Returns the kind of schedule and its options, for example "constant, lr 0.001".
  const std::string& description() const { return description_; }

 private:
  std::string description_;
  std::function<double(std::int64_t)> learning_rate_;
};

// Returns a schedule with the rate `lr` at every step. Throws ValueError unless lr ≥ 0.
//   const Schedule schedule = constant_schedule(1e-3);
WEFT_API Schedule constant_schedule(double lr);

// Options of warmup_cosine_schedule.
struct WarmupCosineOptions {
  // The highest learning rate, reached at step `warmup_steps`.
  double peak = 1e-3;
  std::int64_t warmup_steps = 0;  // number of steps in which the rate rises, ≥ 0
  // The step at which the rate reaches `final` and then remains constant.
  std::int64_t total_steps = 1;
  double final = 0.0;  // the last rate, ≥ 0
};

// Returns a schedule that rises linearly from 0 to the peak and then falls along half a cosine
// (Loshchilov and Hutter, 2017):
//   rate = final + (peak - final) · (1 + cos(π · (step - warmup) / (total - warmup))) / 2
// Throws ValueError unless 0 ≤ final ≤ peak < ∞ and 0 ≤ warmup_steps < total_steps.
//   const Schedule schedule = warmup_cosine_schedule({.warmup_steps = 100, .total_steps = 5000});
WEFT_API Schedule warmup_cosine_schedule(const WarmupCosineOptions& options);

// Options of cosine_warm_restarts_schedule.
struct CosineWarmRestartsOptions {
  double peak = 1e-3;            // the rate at the start of each cycle
  std::int64_t first_steps = 1;  // number of steps of the first cycle, > 0
  std::int64_t factor = 1;       // a cycle has `factor` times the steps of the previous one, ≥ 1
  double final = 0.0;            // the rate that a cycle falls to, ≥ 0
};

// Returns a schedule that falls along half a cosine and restarts at the peak, in cycles (Loshchilov
// and Hutter, 2017; torch's CosineAnnealingWarmRestarts, Keras's CosineDecayRestarts). After `done`
// of the `steps` of a cycle:
//   rate = final + (peak - final) · (1 + cos(π · done / steps)) / 2
// Throws ValueError unless 0 ≤ final ≤ peak < ∞, first_steps > 0 and factor ≥ 1.
//   const Schedule schedule = cosine_warm_restarts_schedule({.first_steps = 100, .factor = 2});
WEFT_API Schedule cosine_warm_restarts_schedule(const CosineWarmRestartsOptions& options);

// Options of warmup_stable_decay_schedule.
struct WarmupStableDecayOptions {
  double peak = 1e-3;             // the highest learning rate
  std::int64_t warmup_steps = 0;  // number of steps in which the rate rises, ≥ 0
  // Number of steps in which the rate falls, ≥ 0.
  std::int64_t decay_steps = 0;
  // The step at which the rate reaches `final` and then remains constant.
  std::int64_t total_steps = 1;
  double final = 0.0;  // the last rate, ≥ 0
};

// Returns a schedule that rises linearly from 0 to the peak, remains there, and falls linearly in
// the last `decay_steps` steps, also called a trapezoid (Hägele et al., 2024,
// https://arxiv.org/abs/2405.18392):
//   rate = peak · min(1, step / warmup_steps)                      until total - decay
//   rate = final + (peak - final) · (total - step) / decay_steps   after it
// Throws ValueError unless 0 ≤ final ≤ peak < ∞, warmup_steps and decay_steps are ≥ 0, their sum is
// at most total_steps, and total_steps > 0.
//   const Schedule schedule = warmup_stable_decay_schedule({.decay_steps = 200, .total_steps =
//   1000});
WEFT_API Schedule warmup_stable_decay_schedule(const WarmupStableDecayOptions& options);

// Options of inverse_square_root_schedule.
struct InverseSquareRootOptions {
  std::int64_t num_hiddens = 512;    // width of the model
  std::int64_t warmup_steps = 4000;  // number of steps in which the rate rises
  double factor = 1.0;               // multiplies all rates
};

// Returns the schedule of Vaswani et al. (2017, equation 3):
//   rate = factor / √num_hiddens · min(1 / √step, step / warmup_steps^(3/2))
// Throws ValueError unless every option is > 0.
//   const Schedule schedule = inverse_square_root_schedule({.num_hiddens = 256});
WEFT_API Schedule inverse_square_root_schedule(const InverseSquareRootOptions& options);

// Returns a schedule that multiplies the rate by `factor` every `every_steps` steps (torch's
// StepLR, counting steps instead of epochs):
//   rate = lr · factor^(⌊(step - 1) / every_steps⌋)
// Throws ValueError unless lr ≥ 0, every_steps > 0 and 0 ≤ factor ≤ 1.
//   const Schedule schedule = step_schedule(1e-3, 1000, 0.5);
WEFT_API Schedule step_schedule(double lr, std::int64_t every_steps, double factor);

// Returns a schedule that changes linearly from `first` at step 1 to `last` at step `steps`, and
// then remains constant (torch's LinearLR):
//   rate = first + (last - first) · (step - 1) / (steps - 1)
// Throws ValueError unless first ≥ 0, last ≥ 0 and steps > 0.
//   const Schedule decay = linear_schedule(1e-3, 0.0, 5000);
WEFT_API Schedule linear_schedule(double first, double last, std::int64_t steps);

// Options of one_cycle_schedule.
struct OneCycleOptions {
  double peak = 1e-3;            // the highest rate
  std::int64_t total_steps = 1;  // number of steps until the last rate
  // The fraction of the steps in which the rate rises.
  double pct_start = 0.3;
  double start_divisor = 25.0;  // the first rate is peak / start_divisor
  double end_divisor = 1e4;     // the last rate is the first one / end_divisor
};

// Returns a schedule that rises to the peak along half a cosine, falls to the last rate along half
// a cosine, and then remains constant (Smith and Topin, 2018; torch's OneCycleLR). Each half goes
// from rate a to rate b; p is the fraction of its steps that are done:
//   rate = b + (a - b) · (1 + cos(π p)) / 2
// Throws ValueError unless peak ≥ 0, 0 ≤ pct_start ≤ 1, total_steps > 0 and the divisors are > 0.
//   const Schedule schedule = one_cycle_schedule({.peak = 1e-3, .total_steps = 5000});
WEFT_API Schedule one_cycle_schedule(const OneCycleOptions& options);

// A segment of sequential_schedule.
struct ScheduleSegment {
  Schedule schedule;       // starts with its own step 1
  std::int64_t steps = 0;  // number of steps, > 0; ignored for the last segment
};

// Returns a schedule that runs several schedules one after the other, each from its own step 1; the
// last one never ends (torch's SequentialLR). Throws ValueError if there are no segments, and
// unless `steps` > 0 for all segments but the last.
//   const Schedule schedule = sequential_schedule(
//       {{linear_schedule(0.0, 1e-3, 100), 100}, {constant_schedule(1e-3)}});
WEFT_API Schedule sequential_schedule(std::vector<ScheduleSegment> segments);

// Returns a schedule with the rate factor · schedule(step). Throws ValueError unless factor ≥ 0.
//   const Schedule tenth = scaled_schedule(constant_schedule(1e-3), 0.1);
WEFT_API Schedule scaled_schedule(Schedule schedule, double factor);

}  // namespace weft
