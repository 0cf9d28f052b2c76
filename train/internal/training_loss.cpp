#include "train/internal/training_loss.hpp"

#include <algorithm>
#include <limits>

#include "weft/autograd/error.hpp"
#include "weft/train/evaluation.hpp"

namespace weft {

template <class T>
double mean_training_loss(const BatchLosses<T>& losses, std::int64_t epoch, const PartLimits& parts,
                          ProcessGroup* processes) {
  constexpr Index most_batches = 8, share = 10;
  const Index all = losses.num_batches();
  const Index count = std::min(most_batches, (all + share - 1) / share);
  BatchLosses<T> some = losses;
  some.num_batches = [count] { return count; };
  some.load = [&](std::int64_t, Index position, const PartLimits& limits) {
    return losses.load(epoch, position * all / count, limits);
  };
  try {
    return mean_over(some, parts, processes);
  } catch (const ValueError&) {
    // The batches have no labels.
    return std::numeric_limits<double>::quiet_NaN();
  }
}

template double mean_training_loss(const BatchLosses<float>&, std::int64_t, const PartLimits&,
                                   ProcessGroup*);
template double mean_training_loss(const BatchLosses<double>&, std::int64_t, const PartLimits&,
                                   ProcessGroup*);

}  // namespace weft
