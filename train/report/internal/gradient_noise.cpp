#include "train/report/internal/gradient_noise.hpp"

#include <numeric>

namespace weft {

void GradientNoise::add(std::span<const double> weights, std::span<const double> squared_norms,
                        double norm) {
  constexpr double decay = 0.95;
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double sum = 0.0;
  int parts = 0;
  for (std::size_t part = 0; part < weights.size(); ++part) {
    if (weights[part] <= 0.0) continue;
    sum += squared_norms[part] * total / weights[part];
    ++parts;
  }
  if (parts < 2) return;
  const double of_batch = (sum - norm * norm) / (parts - 1);
  variance_ = decay * variance_ + total * of_batch;
  gradient_ = decay * gradient_ + norm * norm - of_batch;
}

std::optional<double> GradientNoise::scale() const {
  return gradient_ > 0.0 ? std::optional(variance_ / gradient_) : std::nullopt;
}

}  // namespace weft
