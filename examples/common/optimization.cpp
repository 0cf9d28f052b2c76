#include "examples/common/optimization.hpp"

#include <algorithm>
#include <cmath>

#include <weft/autograd/error.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/muon.hpp>

namespace weft::examples {

std::unique_ptr<Optimizer<float>> Optimization::make_optimizer(Module<float>& model) const {
  if (muon)
    return std::make_unique<Muon<float>>(model, MuonOptions{.lr = lr,
                                                            .weight_decay = weight_decay,
                                                            .adamw_lr_factor = adamw_lr_factor,
                                                            .beta2 = beta2});
  return std::make_unique<AdamW<float>>(
      model, AdamWOptions{.lr = lr, .beta2 = beta2, .weight_decay = weight_decay});
}

std::int64_t Optimization::warmup_steps(std::int64_t steps) const {
  return std::min(warmup, steps / 2);
}

Schedule Optimization::make_schedule(std::int64_t steps) const {
  const std::int64_t rising = warmup_steps(steps);
  if (decay == 0.0)
    return warmup_cosine_schedule(
        {.peak = lr, .warmup_steps = rising, .total_steps = steps, .final = final_lr});
  const auto falling = static_cast<std::int64_t>(std::llround(decay * static_cast<double>(steps)));
  return warmup_stable_decay_schedule({.peak = lr,
                                       .warmup_steps = rising,
                                       .decay_steps = std::min(falling, steps - rising),
                                       .total_steps = steps,
                                       .final = final_lr});
}

void Optimization::check_optimization() const {
  if (final_lr > lr)
    fail<ValueError>("final-lr", str_cat("at most the peak learning rate ", lr), final_lr);
  if (const double unused = Optimization().adamw_lr_factor; !muon && adamw_lr_factor != unused)
    fail<ValueError>("adamw-lr-factor", str_cat(unused, ", because muon is not set"),
                     adamw_lr_factor);
}

void Optimization::reset_unused(const CommandLine& line) {
  if (muon) return;
  line.without_effect({"adamw-lr-factor"}, "without --muon");
  adamw_lr_factor = Optimization().adamw_lr_factor;
}

}  // namespace weft::examples
