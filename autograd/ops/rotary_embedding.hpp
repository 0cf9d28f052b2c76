// Rotary position embedding: rotates pairs of channels by an angle proportional to the position,
// with gradients.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Which two of the d channels that are rotated form pair j.
enum class RotaryPairs {
  halves,      // j and j + d/2: as in GPT-NeoX, and of all models in Hugging Face's library
  interleaved  // 2j and 2j + 1: as in the RoFormer paper, GPT-J and Meta's own files of Llama
};

// Frequencies of models that were trained on shorter texts, as in Llama 3.1: those with more than
// `high` turns in `original_len` positions are not divided by RotaryOptions::factor, those with
// fewer than `low` are, and between the two partly.
struct RotaryBand {
  double low = 1.0;           // turns, > 0
  double high = 4.0;          // turns, > low
  Index original_len = 8192;  // positions of the texts that the model was trained on first

  friend bool operator==(const RotaryBand&, const RotaryBand&) = default;
};

// Of rotary_embedding.
struct RotaryOptions {
  // Pair j rotates by base^(-2j/d) radians per position.
  double base = 10000.0;
  RotaryPairs pairs = RotaryPairs::halves;  // how channels form pairs
  // The position of the first vector of each sequence.
  Index first_position = 0;
  // The number of channels of each head that are rotated, the first ones; all when not given.
  std::optional<Index> size = {};
  // What frequencies are divided by (position interpolation; Chen et al., 2023), but for those that
  // `band` excepts.
  double factor = 1.0;
  std::optional<RotaryBand> band = {};  // when not given, all are divided

  friend bool operator==(const RotaryOptions&, const RotaryOptions&) = default;
};

// Throws ValueError, naming `what`, unless num_heads divides `columns` into heads, `size` is even,
// > 0 and at most that of a head, base and factor are finite and > 0, 0 < low < high and
// original_len > 0 in the band, and first_position ≥ 0.
WEFT_API void check_rotary(const char* what, Index columns, Index num_heads,
                           const RotaryOptions& options);

// For each position i and pair j of the d channels of each head that are rotated, (a, b) rotated by
// an angle (Su et al., 2021, equations 15 and 34):
//   φ = i · base^(-2j/d),  (a, b) → (a cos φ - b sin φ, a sin φ + b cos φ)
// The product of a rotated query and a rotated key depends only on their relative position. x
// [..., time, num_heads · d], heads concatenated; result of the same shape. Throws ShapeError when
// x has fewer than two axes, and ValueError as `check_rotary` does.
//   Var q = rotary_embedding(linear(x, weight), 4, {.base = 500000.0});
template <class T>
WEFT_API Var<T> rotary_embedding(const Var<T>& x, Index num_heads,
                                 const RotaryOptions& options = {});
// The same for x [batch, time, num_heads · d] whose sequence i begins at position
// first_positions[i] + options.first_position. Throws ShapeError unless first_positions is [batch],
// and ValueError for one below 0.
//   Var y = rotary_embedding(x, 4, Tokens({2}, {7, 3}));  // x [2, 1, 32]: one more step
template <class T>
WEFT_API Var<T> rotary_embedding(const Var<T>& x, Index num_heads, const Tokens& first_positions,
                                 const RotaryOptions& options = {});

}  // namespace weft
