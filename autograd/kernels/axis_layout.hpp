// A tensor viewed as [outer, size, inner], where an operation works along the middle axis.
#pragma once

#include <algorithm>

#include "weft/autograd/parallel.hpp"

namespace weft {

struct AxisLayout {
  Index outer = 1;
  Index size = 1;
  Index inner = 1;

  AxisLayout(const Shape& shape, Index axis) : size(shape[axis]) {
    for (Index i = 0; i < axis; ++i) outer *= shape[i];
    for (Index i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }

  // Returns the row-major number of the element at a position.
  Index offset(Index o, Index position, Index column) const {
    return (o * size + position) * inner + column;
  }
};

// The largest number of columns in a range.
inline constexpr Index max_column_range = 64;

// Calls `body(outer, first_column, last_column)` on ranges of columns that cover [outer, inner], in
// parallel; `cost` is the cost of one column. Sums along the axis are added in order, so they do
// not depend on the number of threads.
template <class Body>
void for_each_column_range(const AxisLayout& layout, Index cost, const Body& body) {
  constexpr Index width = max_column_range;
  const Index ranges = (layout.inner + width - 1) / width;
  const Index columns = std::min(width, layout.inner);
  parallel_for(layout.outer * ranges, grain_of(std::max<Index>(cost, 1) * columns),
               [&](Index begin, Index end) {
                 for (Index i = begin; i < end; ++i) {
                   const Index first = i % ranges * width;
                   body(i / ranges, first, std::min(first + width, layout.inner));
                 }
               });
}

}  // namespace weft
