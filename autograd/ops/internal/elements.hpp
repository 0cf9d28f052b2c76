// for_each_part: reads tensors whose elements may be bf16 numbers, a part of the elements at a
// time.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>

#include "weft/autograd/tensor.hpp"
#include "autograd/internal/bfloat16.hpp"

namespace weft {

// Calls body(begin, size, elements...) for parts of the elements [begin, end) of the tensors, in
// order, where `elements` points to the part of each tensor.
template <class Body, class T, class... Tensors>
void for_each_part(Index begin, Index end, const Body& body, const Tensor<T>& first,
                   const Tensors&... others) {
  constexpr Index most = 512;
  std::array<std::array<T, most>, 1 + sizeof...(others)> widened;
  for (Index size; begin < end; begin += size) {
    size = std::min(most, end - begin);
    auto* memory = widened.data();
    const auto elements = [&](const Tensor<T>& x) -> const T* {
      if (!x.bf16()) return x.data() + begin;
      widen_bfloat16(size, x.bf16() + begin, memory->data());
      return memory++->data();
    };
    const std::array<const T*, 1 + sizeof...(others)> parts{elements(first), elements(others)...};
    std::apply([&](const auto*... part) { body(begin, size, part...); }, parts);
  }
}

}  // namespace weft
