// round_to_bf16: stores weights in 16 bits for inference.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Rounds the matrices of a module (parameters of rank 2: weights of linear layers, embeddings) to
// bf16, and stores them in 16 bits per element, see Tensor::of_bf16. Generation reads them in half
// the time. Results equal those of a model with the rounded weights, bit for bit. Copies of the
// module share the matrices. A write to a matrix, such as a step of an optimizer, stores it as type
// T again. No bf16 instructions are required. Returns the number of matrices.
//   round_to_bf16(gpt);
template <class T>
WEFT_API Index round_to_bf16(Module<T>& module);

}  // namespace weft
