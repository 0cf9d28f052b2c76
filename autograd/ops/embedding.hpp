// Embedding lookup, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Row tokens[i] of weight [vocabulary, d] for every token: tokens [...], result [..., d]. Throws
// ShapeError unless weight is a matrix, and ValueError, naming the position, for a token below 0 or
// ≥ vocabulary.
template <class T>
WEFT_API Var<T> embedding(const Tokens& tokens, const Var<T>& weight);

}  // namespace weft
