// Checks of layer options and inputs.
// Included by definitions only.
#pragma once

#include "weft/autograd/error.hpp"
#include "weft/autograd/shape.hpp"
#include "weft/autograd/tensor.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

// Throws ShapeError, naming `input`, unless the shape is [batch, time, num_hiddens].
inline void check_sequences(const char* input, const Shape& shape, Index num_hiddens) {
  if (shape.rank() != 3 || shape[2] != num_hiddens)
    fail<ShapeError>(input, str_cat("shape [batch, time, ", num_hiddens, "]"), shape);
}

// Throws ShapeError, naming `input`, unless the tokens are [batch, time].
inline void check_tokens(const char* input, const Tokens& tokens) {
  if (tokens.rank() != 2) fail<ShapeError>(input, "shape [batch, time]", tokens.shape());
}

}  // namespace weft
