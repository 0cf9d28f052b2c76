// Shape: the sizes of a tensor's axes, stored inline (no heap allocation).
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>

#include "weft/autograd/export.hpp"

namespace weft {

// Sizes, counts and positions. The same type as `Eigen::Index`.
using Index = std::ptrdiff_t;

// The sizes of a tensor's axes, the last of which is contiguous in memory.
//   const Shape shape{2, 4, 100};  // rank 3, 800 elements, shape[-1] == 100
class WEFT_API Shape {
 public:
  static constexpr Index max_rank = 6;  // the largest number of axes
  // More than fit into any address space, and so few that 64 times as many can be counted. Also the
  // limit of the product of the sizes that are not 0.
  static constexpr Index max_elements = Index{1} << 56;

  // Rank 0: a scalar, one element.
  Shape() = default;
  // Throws ShapeError for more than `max_rank` axes, a negative size, or more than `max_elements`.
  Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const Index> sizes);

  Index rank() const { return rank_; }  // the number of axes
  // The size of an axis; negative axes count from the end. Throws ShapeError when there is no such
  // axis.
  Index operator[](Index axis) const { return sizes_[static_cast<std::size_t>(normalized(axis))]; }
  // `axis` counted from the front: 0 ≤ result < rank. Throws ShapeError, naming `what`, when there
  // is no such axis.
  Index normalized(Index axis, const char* what = "axis") const;

  // The product of all sizes; 1 for a scalar.
  Index elements() const { return elements_; }
  // The last size: the columns of the tensor as a matrix. A scalar is [1, 1].
  Index columns() const { return rank_ == 0 ? 1 : sizes_[static_cast<std::size_t>(rank_ - 1)]; }
  Index rows() const;  // the product of all sizes but the last

  const Index* begin() const { return sizes_.data(); }        // the size of axis 0
  const Index* end() const { return sizes_.data() + rank_; }  // behind the last size

  // A copy with one axis resized. Throws ShapeError when there is no such axis.
  Shape with(Index axis, Index size) const;
  // A copy with one axis removed. Throws ShapeError when there is no such axis.
  Shape without(Index axis) const;
  // A copy with an axis inserted before position `axis`. Throws ShapeError, naming `what`, when
  // there is no such position or the rank would exceed `max_rank`.
  Shape inserted(Index axis, Index size, const char* what = "inserted axis") const;

  // "[2, 4, 100]"
  std::string to_string() const;
  // The indices of an element, given its number in row-major order: "[1, 0, 99]". Throws ShapeError
  // when there is no such element.
  std::string position(Index element) const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<Index, max_rank> sizes_{};  // 0 beyond the rank
  Index rank_ = 0;
  Index elements_ = 1;
};

// Prints `to_string()`.
WEFT_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The sum of two numbers ≥ 0: a size, before a Shape can be made of it. Throws ShapeError, naming
// `what`, for a result above Shape::max_elements.
WEFT_API Index size_sum(const char* what, Index a, Index b);
// The product of two numbers ≥ 0. Throws as `size_sum` does.
WEFT_API Index size_product(const char* what, Index a, Index b);

// The shape that both broadcast to by NumPy's rules: aligned at the last axis, sizes equal or 1.
// Throws ShapeError, naming `what` and both shapes, when they do not broadcast.
WEFT_API Shape broadcast(const char* what, const Shape& a, const Shape& b);

}  // namespace weft
