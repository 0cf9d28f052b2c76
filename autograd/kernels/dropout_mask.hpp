// DropoutMask: the mask of dropout, recomputed wherever it is needed.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <cmath>

#include "weft/autograd/random.hpp"

namespace weft {

// Keeps element i with probability 1 - p, rounded to a multiple of 2^-16, by 16-bit number i of a
// random stream, and divides it by 1 - p.
class DropoutMask {
 public:
  DropoutMask(const RandomStream& stream, double p)
      : stream_(stream),
        threshold_(static_cast<std::uint32_t>(std::lround(p * 0x1p16))),
        scale_(p < 1.0 ? 1.0 / (1.0 - p) : 0.0) {}

  // to[i] = from[i] · mask of element first + i. `from` may be `to`.
  template <class T>
  void apply(Index first, const T* from, T* to, Index count) const {
    for_blocks(first, count, [&](Index begin, Index end, const std::uint16_t* numbers) {
      const T scale = static_cast<T>(scale_);
#pragma omp simd
      for (Index i = begin; i < end; ++i)
        to[i] = from[i] * (numbers[i - begin] >= threshold_ ? scale : T{0});
    });
  }
  // to[i] += from[i] · mask of element first + i.
  template <class T>
  void add(Index first, const T* from, T* to, Index count) const {
    for_blocks(first, count, [&](Index begin, Index end, const std::uint16_t* numbers) {
      const T scale = static_cast<T>(scale_);
#pragma omp simd
      for (Index i = begin; i < end; ++i)
        to[i] += from[i] * (numbers[i - begin] >= threshold_ ? scale : T{0});
    });
  }

 private:
  template <class Body>
  void for_blocks(Index first, Index count, const Body& body) const {
    constexpr Index block = 2048;
    std::uint16_t numbers[block];
    for (Index begin = 0; begin < count; begin += block) {
      const Index end = std::min(begin + block, count);
      stream_.fill(static_cast<std::uint64_t>(first + begin), end - begin, numbers);
      body(begin, end, numbers);
    }
  }

  RandomStream stream_;
  std::uint32_t threshold_;  // smaller numbers drop their element
  double scale_;
};

}  // namespace weft
