// Dropout.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Applies inverted dropout (Srivastava et al., 2014) while the tape trains: each element of x, of
// any shape, becomes 0 with probability p, and otherwise
//   y = x / (1 - p)
// For p ≤ 0.9, the probability is rounded to a multiple of 2^-16. If p is 1, the result is zeros.
// If the tape does not train, returns x itself. The mask is a function of the tape's seed and step,
// and backward regenerates it instead of keeping it. Throws ValueError unless 0 ≤ p ≤ 1.
//   Tape tape({.training = true, .seed = 7});
//   Var y = dropout(tape.constant(X), 0.1);
template <class T>
WEFT_API Var<T> dropout(const Var<T>& x, double p);

}  // namespace weft
