// saturating_product: the cost of work over several sizes, which may exceed any Index.
#pragma once

#include <initializer_list>
#include <limits>

#include "weft/autograd/shape.hpp"

namespace weft {

// Returns the product of numbers ≥ 0, or the largest Index if the product exceeds it. For costs: a
// product of sizes of different tensors may overflow even if one of the tensors has no elements.
constexpr Index saturating_product(std::initializer_list<Index> factors) {
  constexpr Index largest = std::numeric_limits<Index>::max();
  Index result = 1;
  for (const Index factor : factors) {
    if (factor == 0) return 0;
    result = result > largest / factor ? largest : result * factor;
  }
  return result;
}

}  // namespace weft
