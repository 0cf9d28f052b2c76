#include "weft/train/evaluation.hpp"

#include <deque>
#include <numeric>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/nested_parallel_for.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

template <class T>
double mean_of_batches(const BatchLosses<T>& losses, const PartLimits& limits,
                       ProcessGroup& processes) {
  const Index parts = limits.most;
  check_positive("mean over batches: parts", parts);
  // For each batch, the weights of its parts, then the products of values and weights. Both are 0
  // for missing parts and for batches computed by other processes, so that they do not affect sums.
  const Index batches = losses.num_batches(), width = 2 * parts;
  std::vector<double> results(static_cast<std::size_t>(batches * width));
  std::deque<Tape<T>> tapes;
  for (Index position = processes.rank(); position < batches; position += processes.size()) {
    const LoadedBatch<T> batch = losses.load(0, position, limits);
    while (std::ssize(tapes) < batch.parts) tapes.emplace_back(TapeOptions{.recording = false});
    double* const weights = results.data() + position * width;
    double* const weighted_values = weights + parts;
    nested_parallel_for(batch.parts, [&](Index part) {
      Tape<T>& tape = tapes[static_cast<std::size_t>(part)];
      const WeightedLoss<T> mean = batch.loss(tape, part);
      weights[part] = *mean.weight;
      // The value of a part without labels may be NaN.
      if (*mean.weight > 0.0)
        weighted_values[part] = *mean.weight * static_cast<double>(mean.item());
      tape.clear();
    });
  }
  processes.all_reduce(results);
  double sum = 0.0, weight = 0.0;
  for (Index position = 0; position < batches; ++position) {
    const double* const weights = results.data() + position * width;
    weight = std::accumulate(weights, weights + parts, weight);
    sum = std::accumulate(weights + parts, weights + width, sum);
  }
  if (weight == 0.0) fail<ValueError>("mean over batches", "at least one label", "none");
  return sum / weight;
}

}  // namespace

template <class T>
double mean_over(const BatchLosses<T>& losses, const PartLimits& parts, ProcessGroup* processes) {
  ProcessGroup& group = ProcessGroup::or_self(processes);
  double mean = 0.0;
  group.run_collectively([&] { mean = mean_of_batches(losses, parts, group); });
  return mean;
}

template double mean_over(const BatchLosses<float>&, const PartLimits&, ProcessGroup*);
template double mean_over(const BatchLosses<double>&, const PartLimits&, ProcessGroup*);

}  // namespace weft
