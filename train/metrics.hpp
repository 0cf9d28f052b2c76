// Metrics: numbers that say how well a model does, for validation.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// A number computed from a batch, as a mean over its labels, and its weight among the numbers of
// other batches: the number of these labels. Converts from and to double.
struct MetricValue {
  MetricValue(double mean, std::optional<double> mean_weight = {})
      : value(mean), weight(mean_weight) {}
  operator double() const { return value; }

  double value;
  std::optional<double> weight;  // if not set, see MetricFunction
};

// Options of accuracy and confusion.
struct MetricOptions {
  // Labels of this value do not count, as in `cross_entropy`.
  TokenId ignore_index = CrossEntropyOptions{}.ignore_index;
};

// Returns the proportion, in [0, 1], of the labels whose logit is the highest; of several highest
// logits, the first one counts. Its weight is the number of labels that are not ignored; the result
// is 0 if all are. logits [..., classes], labels [...]. Throws ShapeError, and ValueError for a
// label outside [0, classes).
//   const double part = accuracy(logits, targets);  // logits [2, 10], targets [2]
template <class T>
WEFT_API MetricValue accuracy(const Tensor<T>& logits, const Tokens& labels,
                              const MetricOptions& options = {});
// Also counts the labels in the pass of `logits`, so that a number made from the result, such as 1
// - accuracy, has the same weight in `mean_metric`.
template <class T>
MetricValue accuracy(const Var<T>& logits, const Tokens& labels,
                     const MetricOptions& options = {}) {
  const MetricValue result = accuracy(logits.value(), labels, options);
  logits.tape().count_labels(*result.weight);
  return result;
}

// Returns the confusion matrix [classes, classes]: element (i, j) counts the labels of class i
// whose highest logit is that of class j. Ignored labels do not count. Matrices of several batches
// can be added. logits [..., classes], labels [...]. Throws the same exceptions as `accuracy`.
template <class T>
WEFT_API Tensor<double> confusion_matrix(const Tensor<T>& logits, const Tokens& labels,
                                         const MetricOptions& options = {});

}  // namespace weft
