#include "weft/train/batch_losses.hpp"

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/layers/summary.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
WeightedLoss<T> weighted_mean(const Var<T>& losses, const Tensor<T>& weights) {
  if (losses.shape() != weights.shape())
    fail<ShapeError>("weighted_mean: weights", losses.shape(), weights.shape());
  double total = 0.0;
  for (const T weight : weights) {
    check_finite_non_negative("weighted_mean: weights", static_cast<double>(weight));
    total += static_cast<double>(weight);
  }
  const Var<T> weighted = sum(multiply(losses, losses.tape().constant(weights)));
  return {scale(weighted, total > 0.0 ? 1.0 / total : 0.0), total};
}

template <class T>
double loss_weight(const std::optional<double>& given, const Tape<T>& tape, Index labels) {
  if (given) {
    check_finite_non_negative("loss: weight", *given);
    return *given;
  }
  const std::span<const double> counts = tape.label_counts();
  if (counts.size() > 1)
    fail<ValueError>("loss: weight", "means over the same number of labels, or a WeightedLoss",
                     str_cat("means over ", counts[0], " and ", counts[1], " labels"));
  return counts.empty() ? static_cast<double>(labels) : counts[0];
}

template <class T>
PartLimits part_limits(Index parts, const Module<T>& model) {
  constexpr Index most_parts = 4, bytes_of_gradients = Index{96} << 20;
  // Positions times parameters: forward and backward of a part take some tenths of a millisecond.
  constexpr Index min_size = Index{1} << 23;
  if (parts > 0) return parts;
  if (!named_running_buffers(model).empty()) return 1;
  const Index parameters = std::max<Index>(count_parameters(model), 1);
  const Index most = bytes_of_gradients / static_cast<Index>(sizeof(T)) / parameters;
  return {std::clamp<Index>(most, 1, most_parts), (min_size - 1) / parameters + 1};
}

template WeightedLoss<float> weighted_mean(const Var<float>&, const Tensor<float>&);
template WeightedLoss<double> weighted_mean(const Var<double>&, const Tensor<double>&);
template PartLimits part_limits(Index, const Module<float>&);
template PartLimits part_limits(Index, const Module<double>&);
template double loss_weight(const std::optional<double>&, const Tape<float>&, Index);
template double loss_weight(const std::optional<double>&, const Tape<double>&, Index);

}  // namespace weft
