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

// The type of sizes, counts and positions. The same type as `Eigen::Index`.
using Index = std::ptrdiff_t;

// The sizes of a tensor's axes. Elements along the last axis are contiguous in memory.
//   const Shape shape{2, 4, 100};  // rank 3, 800 elements, shape[-1] == 100
class WEFT_API Shape {
 public:
  static constexpr Index max_rank = 6;  // the largest number of axes
  // The largest number of elements. It exceeds any address space, and 64 times as many still fit
  // into an Index. It also limits the product of the sizes that are not 0.
  static constexpr Index max_elements = Index{1} << 56;

  // Creates the shape of a scalar: rank 0, one element.
  Shape() = default;
  // Creates a shape with these sizes. Throws ShapeError for more than `max_rank` axes, a negative
  // size, or more than `max_elements` elements.
  Shape(std::initializer_list<Index> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const Index> sizes);

  Index rank() const { return rank_; }  // the number of axes
  // Returns the size of an axis; negative axes count from the end. Throws ShapeError if there is no
  // such axis.
  Index operator[](Index axis) const { return sizes_[static_cast<std::size_t>(normalized(axis))]; }
  // Returns `axis` counted from the front: 0 ≤ result < rank. Throws ShapeError if there is no such
  // axis; the message starts with `what`.
  Index normalized(Index axis, const char* what = "axis") const;

  // The product of all sizes; 1 for a scalar.
  Index elements() const { return elements_; }
  // The last size: the number of columns if the tensor is viewed as a matrix. A scalar is viewed as
  // [1, 1].
  Index columns() const { return rank_ == 0 ? 1 : sizes_[static_cast<std::size_t>(rank_ - 1)]; }
  Index rows() const;  // the product of all sizes except the last

  const Index* begin() const { return sizes_.data(); }        // the size of axis 0
  const Index* end() const { return sizes_.data() + rank_; }  // past the last size

  // Returns a copy with one axis resized. Throws ShapeError if there is no such axis.
  Shape with(Index axis, Index size) const;
  // Returns a copy with one axis removed. Throws ShapeError if there is no such axis.
  Shape without(Index axis) const;
  // Returns a copy with an axis of the given size inserted before position `axis`. Throws
  // ShapeError if there is no such position or the rank would exceed `max_rank`; the message starts
  // with `what`.
  Shape inserted(Index axis, Index size, const char* what = "inserted axis") const;

  // Returns the shape as a string: "[2, 4, 100]".
  std::string to_string() const;
  // Returns the indices of an element, given its number in row-major order: "[1, 0, 99]". Throws
  // ShapeError if there is no such element.
  std::string position(Index element) const;

  friend bool operator==(const Shape&, const Shape&) = default;

 private:
  std::array<Index, max_rank> sizes_{};  // 0 beyond the rank
  Index rank_ = 0;
  Index elements_ = 1;
};

// Prints `to_string()`.
WEFT_API std::ostream& operator<<(std::ostream& out, const Shape& shape);

// Returns a + b for numbers ≥ 0, for computing a size before it becomes part of a Shape. Throws
// ShapeError for a result above Shape::max_elements; the message starts with `what`.
WEFT_API Index size_sum(const char* what, Index a, Index b);
// Returns a · b for numbers ≥ 0. Throws ShapeError for a result above Shape::max_elements; the
// message starts with `what`.
WEFT_API Index size_product(const char* what, Index a, Index b);

// Returns the shape to which both shapes broadcast by NumPy's rules: aligned at the last axis,
// sizes equal or 1. Throws ShapeError if they do not broadcast; the message starts with `what` and
// contains both shapes.
WEFT_API Shape broadcast(const char* what, const Shape& a, const Shape& b);

}  // namespace weft
