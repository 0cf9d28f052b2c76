#include "weft/train/evaluation.hpp"

#include <deque>
#include <numeric>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

template <class T>
double mean_over(const BatchLosses<T>& losses, Index parts) {
  check_positive("mean over batches: parts", parts);
  std::deque<Tape<T>> tapes;
  double sum = 0.0;
  Index labels = 0;
  for (Index position = 0; position < losses.num_batches(); ++position) {
    const LoadedBatch<T> batch = losses.load(0, position, parts);
    while (std::ssize(tapes) < batch.parts) tapes.emplace_back(TapeOptions{.recording = false});
    std::vector<double> of_parts(static_cast<std::size_t>(batch.parts));
    parallel_for(batch.parts, 1, [&](Index first, Index last) {
      for (Index part = first; part < last; ++part) {
        const auto i = static_cast<std::size_t>(part);
        of_parts[i] = static_cast<double>(batch.loss(tapes[i], part, 1).item());
        tapes[i].clear();
      }
    });
    sum = std::accumulate(of_parts.begin(), of_parts.end(), sum);
    labels += batch.labels;
  }
  if (labels == 0) fail<ValueError>("mean over batches", "at least one label", "none");
  return sum / static_cast<double>(labels);
}

template double mean_over(const BatchLosses<float>&, Index);
template double mean_over(const BatchLosses<double>&, Index);

}  // namespace weft
