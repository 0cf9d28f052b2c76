// Rotary position embedding: rotates pairs of channels by an angle proportional to the position,
// with gradients.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Which two of a head's d channels form pair j.
enum class RotaryPairs {
  interleaved,  // 2j and 2j + 1: as in the RoFormer paper, GPT-J and Meta's Llama
  halves        // j and j + d/2: as in GPT-NeoX, and for Llama in Hugging Face's library
};

struct RotaryOptions {
  // Pair j rotates by base^(-2j/d) radians per position.
  double base = 10000.0;
  RotaryPairs pairs = RotaryPairs::interleaved;
  // The position of the first vector of each sequence.
  Index first_position = 0;
};

// Throws ValueError, naming `what`, unless num_heads divides `columns` into heads of an even size,
// base is finite and > 0, and first_position ≥ 0.
WEFT_API void check_rotary(const char* what, Index columns, Index num_heads,
                           const RotaryOptions& options);

// For each position i and pair j of each head, (a, b) rotated by the angle i · base^(-2j/d):
// (a cos - b sin, a sin + b cos) (Su et al., 2021, equations 15 and 34). The product of a rotated
// query and a rotated key depends only on their relative position. x [..., time, num_heads · d],
// heads concatenated; result of the same shape. Throws ShapeError when x has fewer than two axes,
// and ValueError as `check_rotary` does.
template <class T>
WEFT_API Var<T> rotary_embedding(const Var<T>& x, Index num_heads,
                                 const RotaryOptions& options = {});
// The same for x [batch, time, num_heads · d] whose sequence i begins at position
// first_positions[i] + options.first_position. Throws ShapeError unless first_positions is [batch],
// and ValueError for one below 0.
template <class T>
WEFT_API Var<T> rotary_embedding(const Var<T>& x, Index num_heads, const Tokens& first_positions,
                                 const RotaryOptions& options = {});

}  // namespace weft
