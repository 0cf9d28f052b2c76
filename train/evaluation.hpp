// mean_over: the mean of a loss or a metric over the batches of a data source.
#pragma once

#include <functional>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/train/batch_losses.hpp"
#include "weft/train/metrics.hpp"
#include "weft/train/parallel/process_group.hpp"

namespace weft {

// Returns the mean loss over all labels of the batches of epoch 0. The parts of a batch run in
// parallel; the result does not depend on the number of threads.
// With `processes`, every process must make this call; they share the batches and return the same
// result, or all throw if one fails. Throws ValueError if there are no labels.
template <class T>
WEFT_API double mean_over(const BatchLosses<T>& losses, const PartLimits& parts,
                          ProcessGroup* processes = nullptr);

// Returns the mean loss over all labels of the batches of epoch 0, computed in evaluation mode
// without recording. Batches and parts are weighted as described at WeightedLoss. See mean_over for
// `parts` and `processes`.
//   mean_loss(test_set, [&](Tape<float>& tape, const auto& batch) {
//     return cross_entropy(gpt(tape, batch.inputs), batch.targets);
//   }, 2);
// Throws ValueError for a source without labels, for an empty function, and for `parts` > 1 if
// batches of this type cannot be split.
template <class T = float, class B>
double mean_loss(DataSource<B>& source, const std::type_identity_t<LossFunction<T, B>>& loss,
                 const PartLimits& parts = 1, ProcessGroup* processes = nullptr) {
  if (!loss) fail<ValueError>("mean loss: loss", "a function", "none");
  check_parts<B>("mean loss: parts", parts.most);
  return mean_over(batch_losses<T, B>(source, loss), parts, processes);
}

// A function that computes a metric of a batch or of a part of a batch, such as the accuracy, as a
// mean over its labels. If the result's weight is not set, it defaults as in WeightedLoss.
template <class T, class B>
using MetricFunction = std::function<MetricValue(Tape<T>& tape, const B& batch)>;

// Returns the mean of a metric over all labels of the batches of epoch 0. Takes the same arguments
// and throws the same exceptions as `mean_loss`.
//   const double part = mean_metric(test_set, [&](Tape<float>& tape, const auto& batch) {
//     return accuracy(gpt(tape, batch.inputs), batch.targets);
//   });
template <class T = float, class B>
double mean_metric(DataSource<B>& source, const std::type_identity_t<MetricFunction<T, B>>& metric,
                   const PartLimits& parts = 1, ProcessGroup* processes = nullptr) {
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
