// Cross entropy of logits and target classes, with gradients.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct CrossEntropyOptions {
  // Targets of this value are ignored.
  TokenId ignore_index = -100;
  // ε in 0 … 1: the target distribution is 1 - ε on the target, plus ε / classes on every class
  // (Szegedy et al., 2016; as in torch).
  double label_smoothing = 0.0;
  // The divisor of the summed loss, > 0; if not set, the number of targets that are not ignored.
  // For gradient accumulation, the number of targets of the whole batch. It is also the weight of
  // the loss among those of other batches (see Tape::count_labels).
  std::optional<double> divisor = {};
};

// The mean over the n targets that are not ignored (torch's cross_entropy):
//   loss = -1 / n · Σ_i log softmax(logits_i)[targets_i]
// logits [..., classes], targets [...], result []. For finite logits the gradient is finite, and so
// is the loss unless its value exceeds T's range. When every target is ignored, the loss and its
// gradient are 0 (torch gives NaN). Throws ShapeError, also for logits of no classes, and
// ValueError for options outside their ranges and for a target outside 0 … classes - 1, naming its
// position.
//   Var loss = cross_entropy(logits, targets, {.label_smoothing = 0.1});
template <class T>
WEFT_API Var<T> cross_entropy(const Var<T>& logits, const Tokens& targets,
                              const CrossEntropyOptions& options = {});

// `cross_entropy` of `linear`, as torch's, without the memory of all logits, which for many classes
// would be most of a pass's: it has those of 512 targets at a time, and computes their gradients at
// once, when they are there.
//   loss = -1 / n · Σ_i log softmax(x_i · weightᵀ)[targets_i]
// x [..., in], weight [classes, in], targets [...], result []. Throws as the two do.
//   Var loss = linear_cross_entropy(states, weight, targets);
template <class T>
WEFT_API Var<T> linear_cross_entropy(const Var<T>& x, const Var<T>& weight, const Tokens& targets,
                                     const CrossEntropyOptions& options = {});

}  // namespace weft
