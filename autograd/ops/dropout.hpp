// Dropout.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Inverted dropout (Srivastava et al., 2014): while the tape trains, each element of x, of any
// shape, becomes 0 with probability p, rounded to a multiple of 2^-16 if p ≤ 0.9, and otherwise
//   y = x / (1 - p)
// p = 1 gives zeros. On other tapes, returns x itself. The mask is a function of the tape's seed
// and step and is regenerated in backward instead of being kept. Throws ValueError unless 0 ≤ p
// ≤ 1.
//   Tape tape({.training = true, .seed = 7});
//   Var y = dropout(tape.constant(X), 0.1);
template <class T>
WEFT_API Var<T> dropout(const Var<T>& x, double p);

}  // namespace weft
