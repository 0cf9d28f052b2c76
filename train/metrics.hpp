// Metrics for validation: accuracy and confusion matrix.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The value of a metric for a batch, a mean over labels, and its weight when the values of several
// batches are averaged: the number of these labels. Converts from and to double.
struct MetricValue {
  // Creates a value from a mean and its weight.
  MetricValue(double mean, std::optional<double> mean_weight = {})
      : value(mean), weight(mean_weight) {}
  // Returns the value without its weight.
  operator double() const { return value; }

  double value;                  // the mean
  std::optional<double> weight;  // if not set, see MetricFunction
};

// Options of accuracy and confusion_matrix.
struct MetricOptions {
  // Labels with this value do not count, as in `cross_entropy`.
  TokenId ignore_index = CrossEntropyOptions{}.ignore_index;
};

// Returns the fraction of labels, from 0 to 1, whose class has the highest logit; among equal
// logits, the first class counts. The weight is the number of labels that are not ignored. The
// result is 0 if all labels are ignored. logits [..., classes], labels [...]. Throws ShapeError for
// other shapes and ValueError for a label outside [0, classes).
//   const double part = accuracy(logits, targets);  // logits [2, 10], targets [2]
template <class T>
WEFT_API MetricValue accuracy(const Tensor<T>& logits, const Tokens& labels,
                              const MetricOptions& options = {});
// Returns the accuracy for logits [..., classes] on a tape and labels [...], and also counts the
// labels on that tape: in `mean_metric`, a value computed from the result, such as `1 -
// accuracy(…)`, keeps its weight.
template <class T>
MetricValue accuracy(const Var<T>& logits, const Tokens& labels,
                     const MetricOptions& options = {}) {
  const MetricValue result = accuracy(logits.value(), labels, options);
  logits.tape().count_labels(*result.weight);
  return result;
}

// Returns the confusion matrix [classes, classes]: element (i, j) counts the labels of class i
// whose highest logit belongs to class j. Ignored labels do not count. Matrices of several batches
// can be added. logits [..., classes], labels [...]. Throws the same exceptions as `accuracy`.
template <class T>
WEFT_API Tensor<double> confusion_matrix(const Tensor<T>& logits, const Tokens& labels,
                                         const MetricOptions& options = {});

}  // namespace weft
