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
  return {concatenate_text("constant, lr ", lr), [lr](std::int64_t) { return lr; }};
}

Schedule warmup_cosine_schedule(const WarmupCosineOptions& options) {
  const auto [peak, warmup_steps, total_steps, final] = options;
  if (!(final >= 0.0 && final <= peak) || std::isinf(peak))
    fail<ValueError>("warmup and cosine: learning rates", "0 ≤ final ≤ peak",
                     concatenate_text("final ", final, ", peak ", peak));
  if (warmup_steps < 0 || warmup_steps >= total_steps)
    fail<ValueError>(
        "warmup and cosine: steps", "0 ≤ warmup_steps < total_steps",
        concatenate_text("warmup_steps ", warmup_steps, ", total_steps ", total_steps));
  return {concatenate_text("warmup and cosine, peak ", peak, ", warmup_steps ", warmup_steps,
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

Schedule inverse_square_root_schedule(const InverseSquareRootOptions& options) {
  const auto [num_hiddens, warmup_steps, factor] = options;
  if (num_hiddens <= 0 || warmup_steps <= 0 || !(factor > 0.0) || std::isinf(factor))
    fail<ValueError>("inverse square root schedule", "options > 0",
                     concatenate_text("num_hiddens ", num_hiddens, ", warmup_steps ", warmup_steps,
                                      ", factor ", factor));
  return {concatenate_text("inverse square root, num_hiddens ", num_hiddens, ", warmup_steps ",
                           warmup_steps, ", factor ", factor),
          [options](std::int64_t step) {
            const auto at = static_cast<double>(std::max<std::int64_t>(step, 1));
            const auto warmup = static_cast<double>(options.warmup_steps);
            return options.factor / std::sqrt(static_cast<double>(options.num_hiddens)) *
                   std::min(1.0 / std::sqrt(at), at / (warmup * std::sqrt(warmup)));
          }};
}

}  // namespace weft
