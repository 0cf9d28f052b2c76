// Cross entropy of logits and target classes, with gradients.
#pragma once

#include <optional>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/reduction.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Options of cross_entropy and linear_cross_entropy.
struct CrossEntropyOptions {
  // Targets with this value are ignored.
  TokenId ignore_index = -100;
  // The smoothing ε, 0 ≤ ε ≤ 1: the target distribution is 1 - ε on the target, plus ε / classes on
  // every class (Szegedy et al., 2016; as in torch).
  double label_smoothing = 0.0;
  // The weight of each class, finite and ≥ 0 (torch's weight); if empty, it is 1. The mean divides
  // by the sum of the targets' weights.
  std::vector<double> class_weights = {};
  Reduction reduction = Reduction::mean;  // how the losses are combined
  // The divisor of the summed loss, > 0; if not set, the number of targets that are not ignored, or
  // the sum of their weights. Can only be set for Reduction::mean.
  // For gradient accumulation, set it to the number of targets of the whole batch. It is also the
  // weight of this loss when losses of several batches are averaged (see Tape::count_labels).
  std::optional<double> divisor = {};
};

// Returns the mean cross entropy over the n targets that are not ignored (torch's cross_entropy):
//   loss = -1 / n · Σ_i log softmax(logits_i)[targets_i]
// logits [..., classes], targets [...], result [], or [...] for Reduction::none. For finite logits
// the gradient is finite, and so is the loss unless its value exceeds T's range. If all targets are
// ignored, the loss and its gradient are 0 (torch returns NaN). Throws ShapeError if the shapes do
// not match or there are no classes. Throws ValueError for options out of range and for a target
// outside [0, classes), naming its position.
//   Var loss = cross_entropy(logits, targets, {.label_smoothing = 0.1});
template <class T>
WEFT_API Var<T> cross_entropy(const Var<T>& logits, const Tokens& targets,
                              const CrossEntropyOptions& options = {});

// Computes torch's `cross_entropy(linear(x, weight), targets)` without storing all logits, which
// would take most of a pass's memory if there are many classes. It computes the logits of 512
// targets at a time, and their gradients right away.
//   loss = -1 / n · Σ_i log softmax(x_i · weightᵀ)[targets_i]
// x [..., in], weight [classes, in], targets [...], result []. Throws the same exceptions as
// `linear` and `cross_entropy`, and ValueError for Reduction::none.
//   Var loss = linear_cross_entropy(states, weight, targets);
template <class T>
WEFT_API Var<T> linear_cross_entropy(const Var<T>& x, const Var<T>& weight, const Tokens& targets,
                                     const CrossEntropyOptions& options = {});

}  // namespace weft
