// mean_over: the mean of a loss or a metric over the batches of a data source.
#pragma once

#include <functional>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/train/batch_losses.hpp"
#include "weft/train/metrics.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Evaluation in at most `parts` parts of each batch, which run in parallel; the result does not
// depend on the number of threads. Several processes, which all call it, share the batches and get
// the same result, or an error of any of them. Throws ValueError when there are no labels.
template <class T>
WEFT_API double mean_over(const BatchLosses<T>& losses, Index parts,
                          ProcessGroup* processes = nullptr);

// The mean loss over all labels of the batches of epoch 0, on tapes without training and without
// recording. Batches and parts are weighted as WeightedLoss says.
//   mean_loss(test_set, [&](Tape<float>& tape, const auto& batch) {
//     return cross_entropy(gpt(tape, batch.inputs), batch.targets);
//   }, 2);
// Throws ValueError for a source without labels, for an empty function, and for parts that batches
// of this type don't have.
template <class T = float, class B>
double mean_loss(DataSource<B>& source, const std::type_identity_t<LossFunction<T, B>>& loss,
                 Index parts = 1, ProcessGroup* processes = nullptr) {
  if (!loss) fail<ValueError>("mean loss: loss", "a function", "none");
  check_parts<B>("mean loss: parts", parts);
  return mean_over(batch_losses<T, B>(source, loss), parts, processes);
}

// Computes a number from a batch, or a part of one, as a mean over its labels, such as an accuracy.
// If the result has no weight, it is weighted as a WeightedLoss without one.
template <class T, class B>
using MetricFunction = std::function<MetricValue(Tape<T>& tape, const B& batch)>;

// The mean of a metric over all labels. Throws as `mean_loss` does.
//   const double part = mean_metric(test_set, [&](Tape<float>& tape, const auto& batch) {
//     return accuracy(gpt(tape, batch.inputs), batch.targets);
//   });
template <class T = float, class B>
double mean_metric(DataSource<B>& source, const std::type_identity_t<MetricFunction<T, B>>& metric,
                   Index parts = 1, ProcessGroup* processes = nullptr) {
  if (!metric) fail<ValueError>("mean metric: metric", "a function", "none");
  return mean_loss<T, B>(
      source,
      [&metric](Tape<T>& tape, const B& batch) {
        const MetricValue value = metric(tape, batch);
        return WeightedLoss<T>(tape.constant(Tensor<T>(Shape{}, {static_cast<T>(value.value)})),
                               value.weight);
      },
      parts, processes);
}

}  // namespace weft
