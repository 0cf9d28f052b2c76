// Embedding lookup, with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// `y_i = weight[tokens_i]`: a row of weight [vocabulary, d] for every token, tokens [...], result
// [..., d] (torch's embedding). Throws
// ShapeError unless weight is a matrix, and ValueError, naming the position, for a token below 0 or
// ≥ vocabulary.
//   Var vectors = embedding(Tokens({1, 2}, {4, 0}), weight);  // weight [10, 8], vectors [1, 2, 8]
template <class T>
WEFT_API Var<T> embedding(const Tokens& tokens, const Var<T>& weight);

}  // namespace weft
