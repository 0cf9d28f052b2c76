#include "autograd/internal/tensor_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

// The defaults of torch.set_printoptions.
constexpr int precision = 4;
constexpr Index threshold = 1000, edge_items = 3, line_width = 80;

constexpr std::string_view prefix = "tensor(";

std::string repeated(char c, Index count) {
  return std::string(static_cast<std::size_t>(std::max<Index>(count, 0)), c);
}

template <class T>
class TensorText {
 public:
  TensorText(const Shape& shape, const T* elements) : shape_(shape) {
    if (shape.elements() == 0) return;
    double least = std::numeric_limits<double>::infinity(), largest = 0.0;
    for_each_printed(0, elements, [&](T element) {
      if (!is_nonzero_finite(element)) return;
      const double size = std::abs(static_cast<double>(element));
      least = std::min(least, size);
      largest = std::max(largest, size);
      are_integers_ = are_integers_ && size == std::ceil(size);
    });
    is_scientific_ = largest > 0 && (largest / least > 1000 || largest > 1e8 || least < 1e-4);
    for_each_printed(0, elements, [&](T element) {
      if (!std::floating_point<T> || is_nonzero_finite(element))
        width_ = std::max(width_, std::ssize(text_of(element)));
    });
  }

  bool is_shortened() const { return shape_.elements() > threshold; }

  // Returns the elements from `begin` on, which belong to one index on each axis before `axis`.
  std::string text(Index axis, const T* begin) const {
    if (axis == shape_.rank()) {
      const std::string element = text_of(*begin);
      return repeated(' ', width_ - std::ssize(element)) + element;
    }
    const Index depth = shape_.rank() - axis, indent = std::ssize(prefix) + axis;
    const std::string line_end =
        str_cat(',', repeated('\n', std::max<Index>(depth - 1, 1)), repeated(' ', indent + 1));
    // An element is followed by a comma and a space.
    const Index per_line = depth > 1 ? 1 : std::max<Index>(1, (line_width - indent) / (width_ + 2));
    std::string all = "[";
    Index items = 0;
    for_each_item(axis, begin, [&](const T* item) {
      if (items > 0) all += items % per_line == 0 ? line_end : ", ";
      all += item ? text(axis + 1, item) : depth > 1 ? "..." : " ...";
      ++items;
    });
    return all + "]";
  }

 private:
  static bool is_nonzero_finite(T element) {
    return std::isfinite(static_cast<double>(element)) && element != T{0};
  }

  // Calls `visit` with the first element of each printed index of `axis`, and null for a gap.
  template <class Visit>
  void for_each_item(Index axis, const T* begin, const Visit& visit) const {
    const Index size = shape_[axis];
    Index stride = 1;
    for (Index next = axis + 1; next < shape_.rank(); ++next) stride *= shape_[next];
    for (Index i = 0; i < size; ++i) {
      if (is_shortened() && i == edge_items && size > 2 * edge_items) {
        visit(nullptr);
        i = size - edge_items;
      }
      visit(begin + i * stride);
    }
  }

  template <class Visit>
  void for_each_printed(Index axis, const T* begin, const Visit& visit) const {
    if (axis == shape_.rank()) return visit(*begin);
    for_each_item(axis, begin, [&](const T* item) {
      if (item) for_each_printed(axis + 1, item, visit);
    });
  }

  std::string text_of(T element) const {
    if constexpr (std::same_as<T, bool>) return element ? "True" : "False";
    if constexpr (std::integral<T>) return str_cat(element);
    const auto value = static_cast<double>(element);
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 32> digits;
    const bool are_integers = are_integers_ && !is_scientific_;
    const auto notation = is_scientific_ ? std::chars_format::scientific : std::chars_format::fixed;
    const auto end =
        std::to_chars(digits.begin(), digits.end(), value, notation, are_integers ? 0 : precision);
    return str_cat(std::string_view(digits.begin(), end.ptr), are_integers ? "." : "");
  }

  const Shape& shape_;
  bool are_integers_ = true, is_scientific_ = false;
  Index width_ = 1;
};

}  // namespace

template <class T>
std::string tensor_text(const Shape& shape, const T* elements, const char* operation) {
  const TensorText<T> tensor(shape, elements);
  const bool is_empty = shape.elements() == 0;
  std::string text = str_cat(prefix, is_empty ? "[]" : tensor.text(0, elements));
  const std::size_t line = text.rfind('\n');
  Index length = std::ssize(text) + (line == text.npos ? 2 : 1 - static_cast<Index>(line));
  const auto add = [&](const std::string& suffix) {
    const Index indent = std::ssize(prefix);
    const bool fits = length + std::ssize(suffix) + 2 <= line_width;
    text += str_cat(fits ? ", " : ",\n" + repeated(' ', indent), suffix);
    length = std::ssize(suffix) + (fits ? length + 2 : indent);
  };
  if (tensor.is_shortened() || (is_empty && shape.rank() != 1)) add(str_cat("shape=", shape));
  if (std::same_as<T, double>) add("dtype=float64");
  if (std::same_as<T, std::int32_t>) add("dtype=int32");
  if (std::same_as<T, bool> && is_empty) add("dtype=bool");
  if (operation) add(str_cat("op=", operation));
  return text + ")";
}

template std::string tensor_text(const Shape&, const float*, const char*);
template std::string tensor_text(const Shape&, const double*, const char*);
template std::string tensor_text(const Shape&, const std::int32_t*, const char*);
template std::string tensor_text(const Shape&, const bool*, const char*);

}  // namespace weft
