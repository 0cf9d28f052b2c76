// Checks of layer options and inputs.
// Included by definitions only.
#pragma once

#include "weft/autograd/error.hpp"
#include "weft/autograd/shape.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {

// Throws ShapeError, naming `input`, unless the shape is [batch, time, num_hiddens].
inline void check_sequences(const char* input, const Shape& shape, Index num_hiddens) {
  if (shape.rank() != 3 || shape[2] != num_hiddens)
    fail<ShapeError>(input, concatenate_text("shape [batch, time, ", num_hiddens, "]"), shape);
}

// Throws ShapeError, naming `layer`, unless `positions` is [batch, time] for x [batch, time, …].
inline void check_positions(const char* layer, const Shape& x, const Shape& positions) {
  if (positions != Shape{x[0], x[1]})
    fail<ShapeError>(concatenate_text(layer, ": positions"), Shape{x[0], x[1]}, positions);
}

// Throws ValueError, naming `layer`, when time > max_len.
inline void check_length(const char* layer, Index time, Index max_len) {
  if (time > max_len)
    fail<ValueError>(layer,
                     concatenate_text("sequences of at most max_len ", max_len, " positions"),
                     concatenate_text("length ", time));
}

}  // namespace weft
