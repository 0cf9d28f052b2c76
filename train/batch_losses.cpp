#include "weft/train/batch_losses.hpp"

#include "autograd/internal/checks.hpp"

namespace weft {

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

template double loss_weight(const std::optional<double>&, const Tape<float>&, Index);
template double loss_weight(const std::optional<double>&, const Tape<double>&, Index);

}  // namespace weft
