// round_to_bf16: stores weights in 16 bits for inference.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Rounds the matrices of a module (parameters of rank 2: weights of linear layers, embeddings) to
// bf16. Each matrix keeps the rounded values of type T, along with a copy of 16 bits per element.
// For inputs of up to 16 rows, as in generation, linear layers read this copy, which is half as
// large as float. Results equal those of a model with the rounded weights, bit for bit. Copies of
// the module also contain the 16-bit copies. Any change of a matrix, such as a step of an
// optimizer, discards its 16-bit copy. No bf16 instructions are required. Returns the number of
// matrices.
//   round_to_bf16(gpt);
template <class T>
WEFT_API Index round_to_bf16(Module<T>& module);

}  // namespace weft
