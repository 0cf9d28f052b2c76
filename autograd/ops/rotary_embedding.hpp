// Rotary position embedding: rotates pairs of channels by an angle proportional to the position,
// with gradients.
#pragma once

#include <optional>
#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Which two of the d rotated channels form pair j.
enum class RotaryPairs {
  halves,      // j and j + d/2, as in GPT-NeoX and in most Hugging Face models
  interleaved  // 2j and 2j + 1, as in the RoFormer paper, GPT-J and Meta's Llama files
};

inline constexpr EnumNames<RotaryPairs, 2> rotary_pairs_names{{
    {RotaryPairs::halves, "halves"},
    {RotaryPairs::interleaved, "interleaved"},
}};
inline std::string to_string(RotaryPairs pairs) {
  return name_of("rotary pairs", pairs, rotary_pairs_names);
}

// Restricts RotaryOptions::factor to low frequencies, for models that were first trained on shorter
// sequences, such as Llama 3.1. Frequencies with fewer than `low` turns in `original_len` positions
// are divided by the factor, and frequencies with more than `high` turns are not. Frequencies in
// between are interpolated.
struct RotaryBand {
  double low = 1.0;           // number of turns, > 0
  double high = 4.0;          // number of turns, > low
  Index original_len = 8192;  // sequence length that the model was first trained on

  // Calls visit(name, value) for each field of `self`, which may be const.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("low", self.low);
    visit("high", self.high);
    visit("original_len", self.original_len);
  }

  friend bool operator==(const RotaryBand&, const RotaryBand&) = default;
};

// Options of rotary_embedding.
struct RotaryOptions {
  // Pair j rotates by base^(-2j/d) radians per position.
  double base = 10000.0;
  RotaryPairs pairs = RotaryPairs::halves;  // how channels form pairs
  // The position of the first vector of each sequence.
  Index first_position = 0;
  // The number of channels of each head to rotate, counted from the first; all channels if not set.
  std::optional<Index> size = {};
  // The divisor of the frequencies: of all of them or, with `band`, only of the low ones (position
  // interpolation; Chen et al., 2023).
  double factor = 1.0;
  std::optional<RotaryBand> band = {};  // restricts `factor`; no restriction if not set

  // Calls visit(name, value) for each field of `self`, which may be const, and visit(name, value,
  // names) for each enumeration.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("base", self.base);
    visit("pairs", self.pairs, rotary_pairs_names);
    visit("first_position", self.first_position);
    visit("size", self.size);
    visit("factor", self.factor);
    visit("band", self.band);
  }

  friend bool operator==(const RotaryOptions&, const RotaryOptions&) = default;
};

// Throws ValueError, with a message that starts with `what`, unless all of these hold: num_heads
// divides `columns` into heads; the number of rotated channels is even, > 0 and at most the size of
// a head; base and factor are finite and > 0; 0 < low < high and original_len > 0 in the band;
// first_position ≥ 0.
WEFT_API void check_rotary(const char* what, Index columns, Index num_heads,
                           const RotaryOptions& options);

// Rotates pairs of channels by angles proportional to the position (Su et al., 2021, equations 15
// and 34). For position i and pair j of the d rotated channels of each head, with values (a, b):
//   φ = i · base^(-2j/d),  (a, b) → (a cos φ - b sin φ, a sin φ + b cos φ)
// The product of a rotated query and a rotated key depends only on their relative position. x
// [..., time, num_heads · d] with heads concatenated; result of the same shape. Throws ShapeError
// if x has fewer than two axes, and ValueError for options that `check_rotary` rejects.
//   Var q = rotary_embedding(linear(x, weight), 4, {.base = 500000.0});
template <class T>
WEFT_API Var<T> rotary_embedding(const Var<T>& x, Index num_heads,
                                 const RotaryOptions& options = {});
// Rotates x [batch, time, num_heads · d] whose sequence i begins at position first_positions[i] +
// options.first_position. Throws ShapeError unless first_positions is [batch]. Throws ValueError
// for a position below 0 and for options that `check_rotary` rejects.
//   Var y = rotary_embedding(x, 4, Tokens({2}, {7, 3}));  // x [2, 1, 32]: one more step
template <class T>
WEFT_API Var<T> rotary_embedding(const Var<T>& x, Index num_heads, const Tokens& first_positions,
                                 const RotaryOptions& options = {});

}  // namespace weft
