#include "weft/train/optim/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weft/autograd/error.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

Schedule::Schedule(std::string description, std::function<double(std::int64_t)> learning_rate)
    : description_(std::move(description)), learning_rate_(std::move(learning_rate)) {
  check_function("schedule '" + description_ + "': learning_rate", learning_rate_);
}

Schedule constant_schedule(double lr) {
  check_finite_non_negative("constant schedule: lr", lr);
  return {str_cat("constant, lr ", lr), [lr](std::int64_t) { return lr; }};
}

Schedule warmup_cosine_schedule(const WarmupCosineOptions& options) {
  const auto [peak, warmup_steps, total_steps, final] = options;
  if (!(final >= 0.0 && final <= peak) || std::isinf(peak))
    fail<ValueError>("warmup and cosine: learning rates", "0 ≤ final ≤ peak",
                     str_cat("final ", final, ", peak ", peak));
  if (warmup_steps < 0 || warmup_steps >= total_steps)
    fail<ValueError>("warmup and cosine: steps", "0 ≤ warmup_steps < total_steps",
                     str_cat("warmup_steps ", warmup_steps, ", total_steps ", total_steps));
  return {str_cat("warmup and cosine, peak ", peak, ", warmup_steps ", warmup_steps,
                  ", total_steps ", total_steps, ", final ", final),
          [options](std::int64_t step) {
            const auto at = static_cast<double>(step);
            const auto warmup = static_cast<double>(options.warmup_steps);
            const auto total = static_cast<double>(options.total_steps);
            if (at < warmup) return options.peak * at / warmup;
            const double done = std::min(1.0, (at - warmup) / (total - warmup));
            return options.final +
                   (options.peak - options.final) * (1.0 + std::cos(std::numbers::pi * done)) / 2.0;
          }};
}

Schedule cosine_warm_restarts_schedule(const CosineWarmRestartsOptions& options) {
  const auto [peak, first_steps, factor, final] = options;
  if (!(final >= 0.0 && final <= peak) || std::isinf(peak))
    fail<ValueError>("cosine warm restarts: learning rates", "0 ≤ final ≤ peak",
                     str_cat("final ", final, ", peak ", peak));
  check_at_least("cosine warm restarts: first_steps", first_steps, std::int64_t{1});
  check_at_least("cosine warm restarts: factor", factor, std::int64_t{1});
  return {str_cat("cosine warm restarts, peak ", peak, ", first_steps ", first_steps, ", factor ",
                  factor, ", final ", final),
          [options](std::int64_t step) {
            // Real numbers, because the lengths of cycles grow without limit.
            auto done = static_cast<double>(step - 1);
            auto steps = static_cast<double>(options.first_steps);
            if (options.factor == 1) done = std::fmod(done, steps);
            for (; done >= steps; steps *= static_cast<double>(options.factor)) done -= steps;
            return options.final + (options.peak - options.final) *
                                       (1.0 + std::cos(std::numbers::pi * done / steps)) / 2.0;
          }};
}

Schedule warmup_stable_decay_schedule(const WarmupStableDecayOptions& options) {
  const auto [peak, warmup_steps, decay_steps, total_steps, final] = options;
  if (!(final >= 0.0 && final <= peak) || std::isinf(peak))
    fail<ValueError>("warmup, stable, decay: learning rates", "0 ≤ final ≤ peak",
                     str_cat("final ", final, ", peak ", peak));
  if (warmup_steps < 0 || decay_steps < 0 || total_steps < 1 || warmup_steps > total_steps ||
      decay_steps > total_steps - warmup_steps)
    fail<ValueError>("warmup, stable, decay: steps",
                     "warmup_steps ≥ 0 and decay_steps ≥ 0 whose sum is at most total_steps > 0",
                     str_cat("warmup_steps ", warmup_steps, ", decay_steps ", decay_steps,
                             ", total_steps ", total_steps));
  return {str_cat("warmup, stable, decay, peak ", peak, ", warmup_steps ", warmup_steps,
                  ", decay_steps ", decay_steps, ", total_steps ", total_steps, ", final ", final),
          [options](std::int64_t step) {
            const std::int64_t left = options.total_steps - step;
            if (left <= 0) return options.final;
            if (step < options.warmup_steps)
              return options.peak * static_cast<double>(step) /
                     static_cast<double>(options.warmup_steps);
            if (left >= options.decay_steps) return options.peak;
            return options.final + (options.peak - options.final) * static_cast<double>(left) /
                                       static_cast<double>(options.decay_steps);
          }};
}

Schedule inverse_square_root_schedule(const InverseSquareRootOptions& options) {
  const auto [num_hiddens, warmup_steps, factor] = options;
  if (num_hiddens <= 0 || warmup_steps <= 0 || !(factor > 0.0) || std::isinf(factor))
    fail<ValueError>(
        "inverse square root schedule", "options > 0",
        str_cat("num_hiddens ", num_hiddens, ", warmup_steps ", warmup_steps, ", factor ", factor));
  return {str_cat("inverse square root, num_hiddens ", num_hiddens, ", warmup_steps ", warmup_steps,
                  ", factor ", factor),
          [options](std::int64_t step) {
            const auto at = static_cast<double>(std::max<std::int64_t>(step, 1));
            const auto warmup = static_cast<double>(options.warmup_steps);
            return options.factor / std::sqrt(static_cast<double>(options.num_hiddens)) *
                   std::min(1.0 / std::sqrt(at), at / (warmup * std::sqrt(warmup)));
          }};
}

Schedule step_schedule(double lr, std::int64_t every_steps, double factor) {
  check_finite_non_negative("step schedule: lr", lr);
  check_at_least("step schedule: every_steps", every_steps, std::int64_t{1});
  if (!(factor >= 0.0 && factor <= 1.0))
    fail<ValueError>("step schedule: factor", "0 ≤ factor ≤ 1", factor);
  return {str_cat("steps, lr ", lr, " × ", factor, " every ", every_steps, " steps"),
          [=](std::int64_t step) {
            return lr * std::pow(factor, static_cast<double>((step - 1) / every_steps));
          }};
}

Schedule linear_schedule(double first, double last, std::int64_t steps) {
  check_finite_non_negative("linear schedule: first", first);
  check_finite_non_negative("linear schedule: last", last);
  check_at_least("linear schedule: steps", steps, std::int64_t{1});
  return {str_cat("linear, lr ", first, " to ", last, " in ", steps, " steps"),
          [=](std::int64_t step) {
            if (step >= steps) return last;
            const double done = static_cast<double>(step - 1) / static_cast<double>(steps - 1);
            return first + (last - first) * done;
          }};
}

Schedule one_cycle_schedule(const OneCycleOptions& options) {
  check_finite_non_negative("one cycle: peak", options.peak);
  check_at_least("one cycle: total_steps", options.total_steps, std::int64_t{1});
  if (!(options.pct_start >= 0.0 && options.pct_start <= 1.0))
    fail<ValueError>("one cycle: pct_start", "0 ≤ pct_start ≤ 1", options.pct_start);
  check_positive("one cycle: start_divisor", options.start_divisor);
  check_positive("one cycle: end_divisor", options.end_divisor);
  return {str_cat("one cycle, peak ", options.peak, ", total_steps ", options.total_steps,
                  ", pct_start ", options.pct_start, ", divisors ", options.start_divisor, " and ",
                  options.end_divisor),
          [options](std::int64_t step) {
            const double start = options.peak / options.start_divisor;
            const double end = start / options.end_divisor;
            const double total = static_cast<double>(options.total_steps);
            // Like torch, counts steps from 0 to total - 1.
            const double at = std::min(static_cast<double>(step - 1), total - 1.0);
            const double top = options.pct_start * total - 1.0;
            const auto between = [](double from, double to, double done) {
              return to + (from - to) * (1.0 + std::cos(std::numbers::pi * done)) / 2.0;
            };
            // A top above 0 by less than that is 0, rounded.
            if (at <= top && top > 1e-9) return between(start, options.peak, at / top);
            const double left = total - 1.0 - top;
            return between(options.peak, end, left > 0.0 ? (at - top) / left : 1.0);
          }};
}

Schedule sequential_schedule(std::vector<ScheduleSegment> segments) {
  if (segments.empty()) fail<ValueError>("sequential schedule: segments", "at least one", "none");
  std::string description;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const auto& [schedule, steps] = segments[i];
    if (i + 1 == segments.size()) {
      description += schedule.description();
      continue;
    }
    check_at_least("sequential schedule: steps", steps, std::int64_t{1});
    description += str_cat(schedule.description(), " (", steps, " steps), then ");
  }
  return {description, [segments = std::move(segments)](std::int64_t step) {
            std::size_t i = 0;
            for (; i + 1 < segments.size() && step > segments[i].steps; ++i)
              step -= segments[i].steps;
            return segments[i].schedule(step);
          }};
}

Schedule scaled_schedule(Schedule schedule, double factor) {
  check_finite_non_negative("scaled schedule: factor", factor);
  const std::string description = str_cat(schedule.description(), ", × ", factor);
  return {description, [schedule = std::move(schedule), factor](std::int64_t step) {
            return factor * schedule(step);
          }};
}

}  // namespace weft
