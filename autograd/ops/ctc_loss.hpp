// Connectionist temporal classification: a loss for sequences of labels that are not aligned with
// the inputs, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/ops/reduction.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

struct CtcLossOptions {
  TokenId blank = 0;  // the class that stands for no label, in [0, classes)
  // Whether a sequence with more labels than its inputs can emit has a loss of 0, not infinity.
  bool zero_infinity = false;
  // The mean divides each loss by its number of labels, at least 1, before averaging (as torch).
  Reduction reduction = Reduction::mean;  // how the losses are combined
};

// Returns the connectionist temporal classification loss (Graves et al., 2006; torch's ctc_loss),
// which is the negative log-probability of the labels, summed over all their alignments π with the
// inputs:
//   l = -log Σ_π Π_t exp(log_probabilities_t[π_t])
// An alignment emits one class for each input, and becomes the labels if equal neighbors are merged
// and blanks removed. log_probabilities [batch, time, classes] are usually a log_softmax; torch's
// are [time, batch, classes]. targets [batch, labels] are padded: entries at and past
// `target_lengths` are ignored. `input_lengths` and `target_lengths` are [batch], and unlimited if
// empty. The result is a scalar [], or [batch] for Reduction::none. A sequence without labels has
// the loss of blanks only. The gradient of an infinite loss is 0. Computes in double. Throws
// ShapeError if the shapes do not match. Throws ValueError for lengths or a blank out of range, and
// for a target that is blank or outside [0, classes), naming its position.
//   Var loss = ctc_loss(log_softmax(logits), targets, {50, 42}, {7, 5});
template <class T>
WEFT_API Var<T> ctc_loss(const Var<T>& log_probabilities, const Tokens& targets,
                         const ValidLens& input_lengths = {}, const ValidLens& target_lengths = {},
                         const CtcLossOptions& options = {});

}  // namespace weft
