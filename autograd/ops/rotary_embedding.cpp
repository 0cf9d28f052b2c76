#include "weft/autograd/ops/rotary_embedding.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/vector.hpp"

namespace weft {
namespace {

// The cosines and sines of the angle of each pair, at each position of one or more sequences.
template <class T>
struct Angles {
  Tensor<T> cosine, sine;  // [sequences · time, d / 2]
};

// Returns the angle per position of pair j of d / 2, in radians. It is a double, because a float's
// angle would be off by 1e-3 at position 10000.
double frequency(Index j, Index d, const RotaryOptions& options) {
  const double own = std::pow(options.base, -2.0 * static_cast<double>(j) / static_cast<double>(d));
  const double divided = own / options.factor;
  if (!options.band) return divided;
  const auto& [low, high, original_len] = *options.band;
  const double turns = static_cast<double>(original_len) * own / (2.0 * std::numbers::pi);
  const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
  return kept * own + (1.0 - kept) * divided;
}

// Computes the angles of sequences that begin at these positions, counted from
// options.first_position.
template <class T>
Angles<T> angles(const Tape<T>& tape, std::span<const TokenId> first_positions, Index time, Index d,
                 const RotaryOptions& options) {
  const Index count = d / 2, rows = std::ssize(first_positions) * time;
  Angles<T> result{tape.uninitialized({rows, count}), tape.uninitialized({rows, count})};
  T *cosine = result.cosine.data(), *sine = result.sine.data();
  constexpr Index cost = 64;  // of computing a cosine and a sine
  parallel_for(count, grain_of(rows * cost), [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      const double per_position = frequency(j, d, options);
      for (Index row = 0; row < rows; ++row) {
        const Index first = first_positions[static_cast<std::size_t>(row / time)];
        const double angle = (static_cast<double>(options.first_position) +
                              static_cast<double>(first + row % time)) *
                             per_position;
        cosine[row * count + j] = static_cast<T>(std::cos(angle));
        sine[row * count + j] = static_cast<T>(std::sin(angle));
      }
    }
  });
  return result;
}

// Rotates the pairs of a head's vector x by the angles times `direction`, 1 or -1. Adds the result
// to `to`, or writes it there if `overwrite`.
template <class T>
void rotate_halves(Index count, const T* x, const T* cosine, const T* sine, T direction,
                   bool overwrite, T* to) {
  const auto first = [direction](const auto& a, const auto& b, const auto& c, const auto& s) {
    return a * c - direction * b * s;
  };
  const auto second = [direction](const auto& a, const auto& b, const auto& c, const auto& s) {
    return direction * a * s + b * c;
  };
  accumulate_row(count, to, overwrite, first, x, x + count, cosine, sine);
  accumulate_row(count, to + count, overwrite, second, x, x + count, cosine, sine);
}
template <class T>
void rotate_interleaved(Index count, const T* x, const T* cosine, const T* sine, T direction,
                        bool overwrite, T* to) {
  for (Index j = 0; j < count; ++j) {
    const T a = x[2 * j], b = x[2 * j + 1], c = cosine[j], s = direction * sine[j];
    to[2 * j] = a * c - b * s + (overwrite ? T{0} : to[2 * j]);
    to[2 * j + 1] = a * s + b * c + (overwrite ? T{0} : to[2 * j + 1]);
  }
}

// Rotates the heads, of `size` channels each, of all vectors of x. Channels that are not rotated
// are copied.
template <class T>
void rotate(const Tensor<T>& x, const Angles<T>& rotation, T direction, RotaryPairs pairs,
            Index size, const Gradient<T>& result) {
  const Index columns = x.shape().columns();
  const Index rows = rotation.cosine.shape()[0], count = rotation.cosine.shape()[1];
  const auto rotate_head = pairs == RotaryPairs::halves ? rotate_halves<T> : rotate_interleaved<T>;
  parallel_for(x.shape().rows(), grain_of(4 * columns), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index angles_at = row % rows * count;
      for (Index first = row * columns; first < (row + 1) * columns; first += size) {
        const T* const from = x.data() + first;
        T* const to = result.data() + first;
        rotate_head(count, from, rotation.cosine.data() + angles_at,
                    rotation.sine.data() + angles_at, direction, result.fresh, to);
        for (Index c = 2 * count; c < size; ++c) to[c] = from[c] + (result.fresh ? T{0} : to[c]);
      }
    }
  });
}

// Forward:  (a, b) of pair j at position i rotated by i · base^(-2j/d).
// Backward: (da, db) rotated by the negative angle. Keeps the cosines and sines.
template <class T>
Var<T> rotated(const Var<T>& x, Index num_heads, std::span<const TokenId> first_positions,
               const RotaryOptions& options) {
  check_rotary("rotary_embedding", x.shape().columns(), num_heads, options);
  if (x.size() == 0) return x;
  Tape<T>& tape = x.tape();
  const Index size = x.shape().columns() / num_heads;
  const Angles<T> rotation =
      angles(tape, first_positions, x.shape()[-2], options.size.value_or(size), options);
  Tensor<T> y = tape.uninitialized(x.shape());
  rotate(x.value(), rotation, T{1}, options.pairs, size, as_fresh_gradient(y));
  return tape.record("rotary_embedding", y, {x.node()},
                     [x = x.node(), rotation, pairs = options.pairs, size](Tape<T>& backward,
                                                                           const Tensor<T>& dy) {
                       rotate(dy, rotation, T{-1}, pairs, size, backward.gradient(x));
                     });
}

}  // namespace

void check_rotary(const char* what, Index columns, Index num_heads, const RotaryOptions& options) {
  if (num_heads <= 0 || columns % num_heads != 0 || (!options.size && columns / num_heads % 2 != 0))
    fail<ValueError>(what, "num_heads > 0 that divides the vectors into heads of even size",
                     str_cat("num_heads ", num_heads, " for vectors of size ", columns));
  if (options.size &&
      (*options.size <= 0 || *options.size % 2 != 0 || *options.size > columns / num_heads))
    fail<ValueError>(str_cat(what, ": size"),
                     str_cat("an even number from 2 to ", columns / num_heads), *options.size);
  for (const auto& [name, number] :
       {std::pair(": base", options.base), std::pair(": factor", options.factor)})
    if (!(number > 0.0) || std::isinf(number))
      fail<ValueError>(std::string(what) + name, "a finite number > 0", number);
  if (options.band && (!(0.0 < options.band->low && options.band->low < options.band->high) ||
                       options.band->original_len <= 0))
    fail<ValueError>(str_cat(what, ": band"), "0 < low < high, and original_len > 0",
                     str_cat("low ", options.band->low, ", high ", options.band->high,
                             ", original_len ", options.band->original_len));
  if (options.first_position < 0)
    fail<ValueError>(str_cat(what, ": first_position"), "a position ≥ 0", options.first_position);
}

template <class T>
Var<T> rotary_embedding(const Var<T>& x, Index num_heads, const RotaryOptions& options) {
  if (x.rank() < 2)
    fail<ShapeError>("rotary_embedding", "shape [..., time, num_heads · d]", x.shape());
  constexpr TokenId first = 0;
  return rotated(x, num_heads, {&first, 1}, options);
}

template <class T>
Var<T> rotary_embedding(const Var<T>& x, Index num_heads, const Tokens& first_positions,
                        const RotaryOptions& options) {
  if (x.rank() != 3 || first_positions.shape() != Shape{x.shape()[0]})
    fail<ShapeError>("rotary_embedding",
                     "shape [batch, time, num_heads · d], and first positions [batch]",
                     str_cat(x.shape(), " and ", first_positions.shape()));
  std::span<const TokenId> first = first_positions.values();
  for (const TokenId position : first)
    if (position < 0)
      fail<ValueError>("rotary_embedding: first_positions", "positions ≥ 0", position);
  // Often all positions are equal; the sequences then share their angles.
  if (std::adjacent_find(first.begin(), first.end(), std::not_equal_to<>()) == first.end())
    first = first.first(std::min<std::size_t>(first.size(), 1));
  return rotated(x, num_heads, first, options);
}

template Var<float> rotary_embedding(const Var<float>&, Index, const RotaryOptions&);
template Var<double> rotary_embedding(const Var<double>&, Index, const RotaryOptions&);
template Var<float> rotary_embedding(const Var<float>&, Index, const Tokens&, const RotaryOptions&);
template Var<double> rotary_embedding(const Var<double>&, Index, const Tokens&,
                                      const RotaryOptions&);

}  // namespace weft
