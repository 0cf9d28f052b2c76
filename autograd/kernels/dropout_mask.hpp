// DropoutMask: the mask of dropout, recomputed wherever it is needed.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <cmath>

#include "weft/autograd/random.hpp"

namespace weft {

// Keeps element i with probability 1 - p and divides it by 1 - p. For p ≤ 0.9, 16-bit number i of a
// random stream decides. This rounds the probability to a multiple of 2^-16, with a relative error
// of at most 2^-17 / (1 - p) ≤ 7.7e-5. For larger p, this error would grow without bound; there,
// 64-bit number i decides, and the probability is exact.
class DropoutMask {
 public:
  DropoutMask(const RandomStream& stream, double p)
      : stream_(stream),
        threshold_(static_cast<std::uint32_t>(std::lround(p * 0x1p16))),
        scale_(p < 1.0 ? 1.0 / (1.0 - p) : 0.0) {
    if (p <= 0.9) return;
    threshold_ = 1;
    threshold64_ = p < 1.0 ? static_cast<std::uint64_t>(p * 0x1p64) : 0;
  }

  // to[i] = from[i] · mask of element first + i. `from` may be `to`.
  template <class T>
  void apply(Index first, const T* from, T* to, Index count) const {
    for_each<T>(first, count, [=](Index i, T factor) { to[i] = from[i] * factor; });
  }
  // to[i] += from[i] · mask of element first + i.
  template <class T>
  void add(Index first, const T* from, T* to, Index count) const {
    for_each<T>(first, count, [=](Index i, T factor) { to[i] += from[i] * factor; });
  }

 private:
  // Calls body(i, mask of element first + i) for 0 ≤ i < count.
  template <class T, class Body>
  void for_each(Index first, Index count, const Body& body) const {
    const T scale = static_cast<T>(scale_);
    constexpr Index block = 2048;
    std::uint16_t numbers[block];
    for (Index begin = 0; begin < count; begin += block) {
      const Index end = std::min(begin + block, count);
      if (threshold64_ > 0)
        fill_from_pairs(first + begin, end - begin, numbers);
      else
        stream_.fill(static_cast<std::uint64_t>(first + begin), end - begin, numbers);
#pragma omp simd
      for (Index i = begin; i < end; ++i) body(i, numbers[i - begin] >= threshold_ ? scale : T{0});
    }
  }
  // Sets numbers to 1 for elements that are kept and to 0 for elements that are dropped.
  void fill_from_pairs(Index first, Index count, std::uint16_t* numbers) const {
    constexpr Index block = 256;
    std::uint64_t pairs[block];
    for (Index begin = 0; begin < count; begin += block) {
      const Index end = std::min(begin + block, count);
      stream_.fill(static_cast<std::uint64_t>(first + begin), end - begin, pairs);
      for (Index i = begin; i < end; ++i) numbers[i] = pairs[i - begin] >= threshold64_ ? 1 : 0;
    }
  }

  RandomStream stream_;
  std::uint32_t threshold_;        // numbers below this drop their element
  std::uint64_t threshold64_ = 0;  // threshold of 64-bit pairs; 0 if 16-bit numbers decide
  double scale_;
};

}  // namespace weft
