// Metrics: numbers that say how well a model does, for validation.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The part of the labels that have the highest of their logits, in 0 … 1; with several highest, the
// first of them counts. logits [..., classes], labels [...]; labels of CrossEntropyOptions's
// ignore_index do not count, and without any others the result is 0. Throws ShapeError, and
// ValueError for a label outside 0 … classes - 1.
//   const double part = accuracy(logits, targets);  // logits [2, 10], targets [2]
template <class T>
WEFT_API double accuracy(const Tensor<T>& logits, const Tokens& labels);
template <class T>
double accuracy(const Var<T>& logits, const Tokens& labels) {
  return accuracy(logits.value(), labels);
}

// A confusion table, which adds up over batches: of the labels that count of each class (rows), how
// many have the highest logit of which class (columns), [classes, classes]. logits [..., classes],
// labels [...]. Throws as `accuracy` does.
template <class T>
WEFT_API Tensor<double> confusion(const Tensor<T>& logits, const Tokens& labels);

}  // namespace weft
