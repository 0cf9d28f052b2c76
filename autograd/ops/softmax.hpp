// Softmax over the last axis, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Computes the softmax over the last axis of x, of any shape except a scalar; result of the same
// shape (torch.softmax):
//   y_j = exp(x_j) / (Σ_k exp(x_k))
// The result is finite for any finite x, and empty for an empty last axis. Throws ShapeError for a
// scalar.
//   Var weights = softmax(x);  // rows that sum to 1
template <class T>
WEFT_API Var<T> softmax(const Var<T>& x);

// Computes `y = log(softmax(x))` over the last axis without forming the softmax; result of the
// shape of x (torch.log_softmax). Throws ShapeError for a scalar.
//   Var log_probabilities = log_softmax(logits);
template <class T>
WEFT_API Var<T> log_softmax(const Var<T>& x);

// Computes the softmax over the keys k ∈ A that each query may attend to; masked keys get weight 0,
// whatever their scores, even NaN (d2l.ai, section 11.3.2):
//   y_j = exp(x_j) / (Σ_{k ∈ A} exp(x_k))
// scores [batch, queries, keys] or [batch, heads, queries, keys], result of the same shape. A row
// whose keys are all masked is zeros. Throws ShapeError or ValueError for a mask that does not
// match the scores.
//   Var weights = masked_softmax(s, Mask{.causal = true});  // s [2, 4, 4], weights [2, 4, 4]
template <class T>
WEFT_API Var<T> masked_softmax(const Var<T>& scores, const Mask& mask);

}  // namespace weft
