// Random: counter-based random numbers, which depend only on a seed and a position.
#pragma once

#include <array>
#include <cstdint>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Four 32-bit numbers from a 128-bit counter and a 64-bit key: Philox4x32-10 of Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
WEFT_API std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                             std::uint64_t key);

// A stream of random numbers: element i is a function of `seed`, `step`, `stream` and i.
struct WEFT_API RandomStream {
  std::uint64_t seed = 0;    // of the program
  std::uint32_t step = 0;    // of training
  std::uint32_t stream = 0;  // the number of the stream in its step

  // Items `first` … `first + count` of the stream: 32-bit numbers, each uniform over all values, or
  // the same numbers as 16-bit halves or as 64-bit pairs, the low half first.
  template <class Item>
  void fill(std::uint64_t first, Index count, Item* items) const;
};

// A sequence of random numbers. Its entire state is the seed and the number of draws made.
class WEFT_API Random {
 public:
  // What a checkpoint keeps of it.
  struct State {
    std::uint64_t seed = 0;    // of all numbers
    std::uint64_t draws = 0;   // numbers drawn
    bool is_constant = false;  // every number is 0
    friend bool operator==(const State&, const State&) = default;
  };

  explicit Random(std::uint64_t seed) : state_{seed, 0} {}  // with no number drawn
  explicit Random(State state) : state_(state) {}           // goes on from a `state()`
  // For models whose weights will be loaded: tensors are zeros, which take no time, and every other
  // number is the smallest of its range.
  static Random zeros() { return Random(State{.is_constant = true}); }
  State state() const { return state_; }  // of the numbers drawn so far

  // Uniform over all 64-bit values.
  std::uint64_t next();
  // Uniform over 0 … limit - 1. Throws ValueError unless limit > 0.
  Index below(Index limit);
  // Uniform over [0, 1), with 53 random bits.
  double uniform();
  // Standard normal (Box and Muller, 1958).
  double normal();

  // A tensor of this shape with numbers uniform over [low, high): those that as many calls of
  // `uniform` would give, computed in parallel. Rounded to T, a number may be `high` itself.
  //   const Tensor<float> w = random.uniform_tensor({5, 3}, -0.1, 0.1);
  template <class T = float>
  Tensor<T> uniform_tensor(Shape shape, double low, double high);
  // A tensor of this shape with normal numbers: those that as many calls of `normal` would give.
  template <class T = float>
  Tensor<T> normal_tensor(Shape shape, double mean = 0.0, double standard_deviation = 1.0);

  // Shuffles `items` (Fisher and Yates).
  template <class Items>
  void shuffle(Items& items) {
    for (auto i = static_cast<Index>(items.size()) - 1; i > 0; --i)
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  State state_;
};

}  // namespace weft
