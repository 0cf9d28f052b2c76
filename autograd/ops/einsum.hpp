// einsum: products of two tensors, summed over named axes, with gradients.
#pragma once

#include <string_view>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Computes torch.einsum of two operands, with one matrix product. The equation names each axis of a
// and of b, which have any shapes, by a letter: "bqd,bkd->bqk" is
//   y[b, q, k] = Σ_d a[b, q, d] b[b, k, d]
// Letters that are not in the result are summed over. Throws ValueError if the equation has another
// form or repeats a letter within an operand or the result. Throws ShapeError if the ranks, or the
// sizes of a letter, do not match.
//   Var scores = einsum("bqd,bkd->bqk", q, k);  // q [2, 4, 8], k [2, 5, 8], scores [2, 4, 5]
template <class T>
WEFT_API Var<T> einsum(std::string_view equation, const Var<T>& a, const Var<T>& b);

}  // namespace weft
