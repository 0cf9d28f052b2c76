#include "weft/train/evaluation.hpp"

#include <deque>
#include <numeric>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

template <class T>
double mean_of_batches(const BatchLosses<T>& losses, Index parts, ProcessGroup* processes) {
  check_positive("mean over batches: parts", parts);
  const Index size = processes ? processes->size() : 1, rank = processes ? processes->rank() : 0;
  // For each batch its number of labels and the losses of its parts, by the process that computes
  // it: batches rank, rank + size, …; of parts that it does not have, what changes no sum.
  const Index batches = losses.num_batches(), width = 1 + parts;
  std::vector<double> results(static_cast<std::size_t>(batches * width), -0.0);
  std::vector<int> counts;
  std::vector<Index> starts;
  for (Index process = 0, start = 0; process < size; ++process) {
    const Index own_batches = (batches - process + size - 1) / size;
    counts.push_back(static_cast<int>(own_batches * width));
    starts.push_back(start);
    start += own_batches * width;
  }
  const auto result_of = [&](Index position) {
    return results.data() + starts[static_cast<std::size_t>(position % size)] +
           position / size * width;
  };

  std::deque<Tape<T>> tapes;
  for (Index position = rank; position < batches; position += size) {
    const LoadedBatch<T> batch = losses.load(0, position, parts);
    while (std::ssize(tapes) < batch.parts) tapes.emplace_back(TapeOptions{.recording = false});
    double* const result = result_of(position);
    result[0] = static_cast<double>(batch.labels);
    parallel_for(batch.parts, 1, [&](Index first, Index last) {
      for (Index part = first; part < last; ++part) {
        Tape<T>& tape = tapes[static_cast<std::size_t>(part)];
        result[1 + part] = static_cast<double>(batch.loss(tape, part, 1).item());
        tape.clear();
      }
    });
  }
  if (processes) processes->gather(results, counts);
  double sum = 0.0, labels = 0.0;
  for (Index position = 0; position < batches; ++position) {
    const double* const result = result_of(position);
    labels += result[0];
    sum = std::accumulate(result + 1, result + width, sum);
  }
  if (labels == 0.0) fail<ValueError>("mean over batches", "at least one label", "none");
  return sum / labels;
}

}  // namespace

template <class T>
double mean_over(const BatchLosses<T>& losses, Index parts, ProcessGroup* processes) {
  double mean = 0.0;
  together(processes, [&] { mean = mean_of_batches(losses, parts, processes); });
  return mean;
}

template double mean_over(const BatchLosses<float>&, Index, ProcessGroup*);
template double mean_over(const BatchLosses<double>&, Index, ProcessGroup*);

}  // namespace weft
