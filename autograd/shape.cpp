#include "weft/autograd/shape.hpp"

#include <algorithm>
#include <ostream>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

constexpr const char* at_most_max_elements = "at most 2^56 elements";

std::string list_of(std::span<const Index> sizes) {
  std::string text;
  for (const Index size : sizes) text += (text.empty() ? "[" : ", ") + str_cat(size);
  return text.empty() ? "[]" : text + "]";
}

}  // namespace

Shape::Shape(std::span<const Index> sizes) {
  if (static_cast<Index>(sizes.size()) > max_rank)
    fail<ShapeError>("shape", str_cat("at most ", max_rank, " axes"), sizes.size());
  // A size of 0 makes the product 0; the product of the other sizes must still be within the limit.
  Index nonzero = 1;
  for (Index size : sizes) {
    if (size < 0) fail<ShapeError>("shape", "sizes of at least 0", size);
    if (size > 0 && nonzero > max_elements / size)
      fail<ShapeError>("shape", at_most_max_elements, list_of(sizes));
    if (size > 0) nonzero *= size;
    sizes_[static_cast<std::size_t>(rank_++)] = size;
    elements_ *= size;
  }
}

Index Shape::normalized(Index axis, const char* what) const {
  const Index from_front = axis < 0 ? axis + rank_ : axis;
  if (from_front < 0 || from_front >= rank_)
    fail<ShapeError>(what, str_cat("an axis of ", to_string()), axis);
  return from_front;
}

Index Shape::rows() const {
  Index rows = 1;
  for (Index axis = 0; axis + 1 < rank_; ++axis) rows *= sizes_[static_cast<std::size_t>(axis)];
  return rows;
}

Shape Shape::with(Index axis, Index size) const {
  std::array<Index, max_rank> sizes = sizes_;
  sizes[static_cast<std::size_t>(normalized(axis))] = size;
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_)));
}

Shape Shape::without(Index axis) const {
  std::array<Index, max_rank> sizes = sizes_;
  const Index position = normalized(axis);
  std::copy(begin() + position + 1, end(), sizes.begin() + position);
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_ - 1)));
}

Shape Shape::inserted(Index axis, Index size, const char* what) const {
  if (rank_ == max_rank)
    fail<ShapeError>(what, str_cat("fewer than ", max_rank, " axes"), to_string());
  const Index position = axis < 0 ? axis + rank_ + 1 : axis;
  if (position < 0 || position > rank_)
    fail<ShapeError>(what, str_cat("an axis position from 0 to ", rank_),
                     str_cat(axis, " for shape ", to_string()));
  std::array<Index, max_rank> sizes{};
  std::copy(begin(), begin() + position, sizes.begin());
  sizes[static_cast<std::size_t>(position)] = size;
  std::copy(begin() + position, end(), sizes.begin() + position + 1);
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank_ + 1)));
}

std::string Shape::to_string() const {
  return list_of({sizes_.data(), static_cast<std::size_t>(rank_)});
}

std::string Shape::position(Index element) const {
  if (element < 0 || element >= elements_)
    fail<ShapeError>("position", str_cat("an element of ", to_string()), element);
  Shape indices = *this;
  for (Index axis = rank_ - 1; axis >= 0; --axis) {
    const Index size = sizes_[static_cast<std::size_t>(axis)];
    indices.sizes_[static_cast<std::size_t>(axis)] = element % size;
    element /= size;
  }
  return indices.to_string();
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.to_string(); }

Index size_sum(const char* what, Index a, Index b) {
  if (a > Shape::max_elements || b > Shape::max_elements - a)
    fail<ShapeError>(what, at_most_max_elements, str_cat(a, " + ", b));
  return a + b;
}

Index size_product(const char* what, Index a, Index b) {
  if (a > 0 && b > Shape::max_elements / a)
    fail<ShapeError>(what, at_most_max_elements, str_cat(a, " · ", b));
  return a * b;
}

Shape broadcast(const char* what, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const Index rank = std::max(a.rank(), b.rank());
  std::array<Index, Shape::max_rank> sizes{};
  for (Index axis = 1; axis <= rank; ++axis) {
    const Index a_size = axis <= a.rank() ? a[-axis] : 1;
    const Index b_size = axis <= b.rank() ? b[-axis] : 1;
    if (a_size != b_size && a_size != 1 && b_size != 1)
      fail<ShapeError>(what, str_cat("shapes that broadcast (sizes equal or 1)"),
                       str_cat(a, " and ", b));
    sizes[static_cast<std::size_t>(rank - axis)] = a_size == 1 ? b_size : a_size;
  }
  return Shape(std::span<const Index>(sizes.data(), static_cast<std::size_t>(rank)));
}

}  // namespace weft
