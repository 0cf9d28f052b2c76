// GradientNoise: the gradient noise scale, about the largest batch size that training uses well.
#pragma once

#include <optional>
#include <span>

namespace weft {

// Estimates the simple noise scale of McCandlish et al. (2018), "An Empirical Model of Large-Batch
// Training", from the gradients of the parts of batches. With g the mean gradient of a batch of
// weight B, and gₚ the one of its part p of weight bₚ (P parts):
//   tr(Σ) / B = (Σ (bₚ / B) |gₚ|² - |g|²) / (P - 1),  |G|² = |g|² - tr(Σ) / B
//   noise scale = tr(Σ) / |G|²                                                         (eq. 2.9)
// For equal parts, these are the estimates of appendix A.1. Both are averaged over steps.
class GradientNoise {
 public:
  // Takes a step: the weight of each part, such as its number of labels; the squared norm of each
  // part's term bₚ / B · gₚ; and the norm of the sum of the terms. Steps with fewer than two parts
  // of weight > 0 are ignored.
  void add(std::span<const double> weights, std::span<const double> squared_norms, double norm);
  // Returns the noise scale in the unit of the weights; nothing before the first step, and if the
  // noise hides the gradient.
  std::optional<double> scale() const;

 private:
  double variance_ = 0.0, gradient_ = 0.0;  // moving averages of tr(Σ) and |G|², not normalized
};

}  // namespace weft
