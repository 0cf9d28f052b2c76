// Random: counter-based random numbers, which depend only on a seed and a position.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Returns four random 32-bit numbers for a 128-bit counter and a 64-bit key: Philox4x32-10 of
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
WEFT_API std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                             std::uint64_t key);

// A stream of random numbers: element i is a function of `seed`, `step`, `stream` and i.
struct WEFT_API RandomStream {
  std::uint64_t seed = 0;    // seed of the program
  std::uint32_t step = 0;    // training step
  std::uint32_t stream = 0;  // number of the stream within its step

  // Writes items [first, first + count) of the stream to `items`. 32-bit items are random numbers,
  // uniform over all values. 16-bit items are their halves and 64-bit items are pairs of them, low
  // half first.
  template <class Item>
  void fill(std::uint64_t first, Index count, Item* items) const;
};

// A sequence of random numbers. Its entire state is the seed and the number of draws made so far.
class WEFT_API Random {
 public:
  // The state of a sequence, as saved in checkpoints.
  struct State {
    std::uint64_t seed = 0;    // seed of the sequence
    std::uint64_t draws = 0;   // number of draws so far
    bool is_constant = false;  // whether every number is 0
    friend bool operator==(const State&, const State&) = default;
  };

  explicit Random(std::uint64_t seed) : state_{seed, 0} {}  // starts a new sequence
  explicit Random(State state) : state_(state) {}           // continues from a `state()`
  // Returns a sequence in which every number is 0, for models whose weights will be loaded:
  // creating their tensors then takes no time. If the tensors contain more than `max_numbers`
  // numbers in total, creating the next one throws ValueError before it takes memory, and `draws`
  // of the state is greater than `max_numbers`: the sizes of a model can come from a file.
  static Random zeros(std::uint64_t max_numbers = std::numeric_limits<std::uint64_t>::max()) {
    Random random(State{.is_constant = true});
    random.max_numbers_ = max_numbers;
    return random;
  }
  State state() const { return state_; }  // the current state

  // Returns a number uniform over all 64-bit values.
  std::uint64_t next();
  // Returns a number uniform over [0, limit). Throws ValueError unless limit > 0.
  Index below(Index limit);
  // Returns a number uniform over [0, 1), with 53 random bits.
  double uniform();
  // Returns a standard normal number (Box and Muller, 1958).
  double normal();

  // Returns a tensor of this shape with numbers uniform over [low, high). They are computed in
  // parallel from the same draws as successive calls of `uniform`. A number rounded to T can equal
  // `high`.
  //   const Tensor<float> w = random.uniform_tensor({5, 3}, -0.1, 0.1);
  template <class T = float>
  Tensor<T> uniform_tensor(Shape shape, double low, double high);
  // Returns a tensor of this shape with normal numbers. They are computed in parallel from the same
  // draws as successive calls of `normal`.
  template <class T = float>
  Tensor<T> normal_tensor(Shape shape, double mean = 0.0, double standard_deviation = 1.0);

  // Shuffles `items` uniformly (Fisher and Yates).
  template <class Items>
  void shuffle(Items& items) {
    for (auto i = static_cast<Index>(items.size()) - 1; i > 0; --i)
      std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(below(i + 1))]);
  }

 private:
  // Counts the numbers of a tensor of zeros. Throws ValueError if `zeros` does not allow them.
  void count_zeros(const Shape& shape);

  State state_;
  std::uint64_t max_numbers_ = std::numeric_limits<std::uint64_t>::max();  // of `zeros`
};

}  // namespace weft
