// round_to_bf16: weights of 16 bits, for inference.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Rounds the module's matrices (parameters of rank 2: weights of linear layers, embeddings) to bf16
// and keeps them in 16 bits each, beside the rounded numbers of type T: where linear layers read
// all weights for up to 16 rows, as in generation, they read half the bytes of float. Results are
// those of a model with the rounded weights, bit for bit. Copies of the module have the 16 bits,
// too; whatever changes a matrix, such as a step of an optimizer, ends that for it. Needs no bf16
// instructions. Returns the number of matrices.
//   round_to_bf16(gpt);
template <class T>
WEFT_API Index round_to_bf16(Module<T>& module);

}  // namespace weft
