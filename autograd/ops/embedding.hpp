// Embedding lookup, with gradients.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns a row of weight for every token: `y_i = weight[tokens_i]` (torch's embedding). weight
// [vocabulary, d], tokens [...], result [..., d]. The row of `padding_idx` gets no gradient. Throws
// ShapeError unless weight is a matrix. Throws ValueError for a token outside [0, vocabulary),
// naming its position.
//   Var vectors = embedding(Tokens({1, 2}, {4, 0}), weight);  // weight [10, 8], vectors [1, 2, 8]
template <class T>
WEFT_API Var<T> embedding(const Tokens& tokens, const Var<T>& weight,
                          std::optional<TokenId> padding_idx = {});

}  // namespace weft
