#include "weft/autograd/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numbers>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"

namespace weft {
namespace {

constexpr std::uint32_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
constexpr int rounds = 10;

// The last counter word of every draw of a Random. It keeps the draws distinct from every
// RandomStream with a step below 2^32 - 1.
constexpr std::uint32_t draw_word = 0xFFFFFFFF;

// `count` counters as a structure of arrays, which the compiler vectorizes.
template <int count>
struct Counters {
  std::uint32_t word[4][count];
};
constexpr int lanes = 16;
using Group = Counters<lanes>;

// Replaces each counter by its random numbers.
template <int count>
void philox(Counters<count>& c, std::uint64_t key) {
  auto key0 = static_cast<std::uint32_t>(key);
  auto key1 = static_cast<std::uint32_t>(key >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < rounds; ++round) {
#pragma omp simd
    for (int lane = 0; lane < count; ++lane) {
      const std::uint64_t product0 = std::uint64_t{multiplier0} * c.word[0][lane];
      const std::uint64_t product1 = std::uint64_t{multiplier1} * c.word[2][lane];
      const std::uint32_t next0 =
          static_cast<std::uint32_t>(product1 >> 32) ^ c.word[1][lane] ^ key0;
      const std::uint32_t next2 =
          static_cast<std::uint32_t>(product0 >> 32) ^ c.word[3][lane] ^ key1;
      c.word[1][lane] = static_cast<std::uint32_t>(product1);
      c.word[3][lane] = static_cast<std::uint32_t>(product0);
      c.word[0][lane] = next0;
      c.word[2][lane] = next2;
    }
    key0 += weyl0;
    key1 += weyl1;
  }
}

// Returns the random numbers of counters [first, first + lanes), whose upper words are word2 and
// word3.
Group random_group(std::uint64_t first, std::uint32_t word2, std::uint32_t word3,
                   std::uint64_t key) {
  Group c;
  for (int lane = 0; lane < lanes; ++lane) {
    const std::uint64_t counter = first + static_cast<std::uint64_t>(lane);
    c.word[0][lane] = static_cast<std::uint32_t>(counter);
    c.word[1][lane] = static_cast<std::uint32_t>(counter >> 32);
    c.word[2][lane] = word2;
    c.word[3][lane] = word3;
  }
  philox(c, key);
  return c;
}

// Returns a number in [0, 1) from 53 of 64 random bits.
double uniform_of(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Returns a standard normal number from two uniform numbers (Box and Muller, 1958).
double normal_of(double first, double second) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - first));
  return radius * std::cos(2.0 * std::numbers::pi * second);
}

// Sets numbers[i] = uniform_of(draw first + i of a Random with this seed) for 0 ≤ i < lanes.
void draw_lanes(std::uint64_t seed, std::uint64_t first, double* numbers) {
  const Group c = random_group(first, 0, draw_word, seed);
  for (int lane = 0; lane < lanes; ++lane)
    numbers[lane] = uniform_of((std::uint64_t{c.word[1][lane]} << 32) | c.word[0][lane]);
}

// Sets values[i] = f(the uniform numbers of draws [i · draws, (i + 1) · draws) after the state).
// These are the numbers that successive calls of Random::uniform would return; the state moves past
// them.
template <int draws, class T, class Function>
void fill_in_parallel(Random::State& state, std::span<T> values, const Function& f) {
  constexpr Index per_group = lanes / draws;
  parallel_for(std::ssize(values), grain_of(Index{32} * draws), [&](Index begin, Index end) {
    double numbers[lanes];
    for (Index i = begin; i < end; i += per_group) {
      draw_lanes(state.seed, state.draws + static_cast<std::uint64_t>(i * draws), numbers);
      for (Index j = i; j < std::min(i + per_group, end); ++j)
        values[static_cast<std::size_t>(j)] = f(numbers + (j - i) * draws);
    }
  });
  state.draws += values.size() * draws;
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  auto c = std::bit_cast<Counters<1>>(counter);
  philox(c, key);
  return std::bit_cast<std::array<std::uint32_t, 4>>(c);
}

// 32-bit number i of the stream is word (i / lanes) % 4 of lane i % lanes in group i / (4 · lanes);
// 16-bit and 64-bit items are the halves and the pairs of these numbers in memory order.
template <class Item>
void RandomStream::fill(std::uint64_t first, Index count, Item* items) const {
  if (count == 0) return;
  constexpr auto group_items = static_cast<Index>(sizeof(Group) / sizeof(Item));
  const auto begin = static_cast<Index>(first % group_items);
  std::uint64_t group = first / group_items;
  for (Index done = -begin; done < count; done += group_items, ++group) {
    const Group c = random_group(group * lanes, stream, step, seed);
    const Index from = std::max<Index>(done, 0), to = std::min(done + group_items, count);
    std::memcpy(items + from,
                reinterpret_cast<const std::byte*>(&c) +
                    static_cast<std::size_t>(from - done) * sizeof(Item),
                static_cast<std::size_t>(to - from) * sizeof(Item));
  }
}

std::uint64_t Random::next() {
  if (state_.is_constant) return 0;
  const std::uint64_t draw = state_.draws++;
  const auto words = philox(
      {static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32), 0, draw_word},
      state_.seed);
  return (std::uint64_t{words[1]} << 32) | words[0];
}

Index Random::below(Index limit) {
  if (limit <= 0) fail<ValueError>("Random::below", "a limit > 0", limit);
  if (state_.is_constant) return 0;
  const auto range = static_cast<std::uint64_t>(limit);
  // Rejects numbers below `threshold`: they would make small remainders more likely.
  const std::uint64_t threshold = (0 - range) % range;
  std::uint64_t number = next();
  while (number < threshold) number = next();
  return static_cast<Index>(number % range);
}

double Random::uniform() { return uniform_of(next()); }

double Random::normal() {
  const double first = uniform(), second = uniform();
  return normal_of(first, second);
}

void Random::count_zeros(const Shape& shape) {
  const auto most = std::numeric_limits<std::uint64_t>::max(),
             count = static_cast<std::uint64_t>(shape.elements());
  state_.draws = count > most - state_.draws ? most : state_.draws + count;
  if (state_.draws > max_numbers_)
    fail<ValueError>("Random::zeros", str_cat("at most ", max_numbers_, " numbers"),
                     str_cat(state_.draws, " with a tensor of shape ", shape));
}

template <class T>
Tensor<T> Random::uniform_tensor(Shape shape, double low, double high) {
  if (state_.is_constant) {
    count_zeros(shape);
    return Tensor<T>(shape);
  }
  auto tensor = Tensor<T>::uninitialized(shape);
  fill_in_parallel<1>(state_, tensor.values(), [=](const double* numbers) {
    return static_cast<T>(low + (high - low) * numbers[0]);
  });
  return tensor;
}

template <class T>
Tensor<T> Random::normal_tensor(Shape shape, double mean, double standard_deviation) {
  if (state_.is_constant) {
    count_zeros(shape);
    return Tensor<T>(shape);
  }
  auto tensor = Tensor<T>::uninitialized(shape);
  fill_in_parallel<2>(state_, tensor.values(), [=](const double* numbers) {
    return static_cast<T>(mean + standard_deviation * normal_of(numbers[0], numbers[1]));
  });
  return tensor;
}

template void RandomStream::fill(std::uint64_t, Index, std::uint16_t*) const;
template void RandomStream::fill(std::uint64_t, Index, std::uint32_t*) const;
template void RandomStream::fill(std::uint64_t, Index, std::uint64_t*) const;
template Tensor<float> Random::uniform_tensor(Shape, double, double);
template Tensor<double> Random::uniform_tensor(Shape, double, double);
template Tensor<float> Random::normal_tensor(Shape, double, double);
template Tensor<double> Random::normal_tensor(Shape, double, double);

}  // namespace weft
