// Cross entropy of logits and target classes, with gradients.
#pragma once

#include <optional>

#include "weft/autograd/tape.hpp"

namespace weft {

struct CrossEntropyOptions {
  // Targets of this value do not count.
  TokenId ignore_index = -100;
  // ε in 0 … 1: the target distribution is (1 - ε) on the target and ε / classes everywhere
  // (Szegedy et al., 2016; as torch has it).
  double label_smoothing = 0.0;
  // What the summed loss is divided by; the number of targets that count when not given. Lets
  // several small batches make up the mean of a large one.
  std::optional<double> divisor = {};
};

// The mean over the targets that count of -log softmax(logits)[target]. logits [..., classes],
// targets [...], result []. Finite for any finite logits. When every target is ignored, the loss
// and its gradient are 0 (torch gives NaN). Throws ShapeError, and ValueError for a target outside
// 0 … classes - 1, naming its position.
template <class T>
Var<T> cross_entropy(const Var<T>& logits, const Tokens& targets,
                     const CrossEntropyOptions& options = {});

}  // namespace weft
