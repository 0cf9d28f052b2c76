// Comparisons of tensors and numbers, and the selection of elements by a condition.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// The comparison that `compare` makes.
enum class Comparison { less, less_equal, greater, greater_equal, equal, not_equal };

// Returns whether a comparison such as `y = (a < b)` holds, element by element. The shapes
// broadcast by NumPy's rules. NaN differs from every number, including itself. T is float, double
// or std::int32_t; the operators below also take a number. Throws ShapeError if the shapes do not
// broadcast.
//   const Tensor<bool> is_padding = tokens == Vocabulary::pad;  // of the shape of tokens
template <class T>
WEFT_API Tensor<bool> compare(const Tensor<T>& a, Comparison comparison, const Tensor<T>& b);

// Selects `y = a if condition otherwise b`, element by element (torch.where). a and b are variables
// or, without gradients, tensors; one of them may be a number. They broadcast together with the
// condition. The gradient of an element goes to the selected input. The other input gets 0, even if
// it is NaN or infinite. Throws ShapeError if the shapes do not broadcast.
// As in torch, this 0 is multiplied by the derivative of the operation that computed the other
// input. If that derivative is NaN or infinite, the gradient is NaN. To avoid it, apply `where` to
// the input of that operation, too:
//   Var y = where(x > 0, x, 0);                       // relu
//   Var z = where(x > 0, sqrt(x), x);                 // its gradient is NaN for x ≤ 0
//   Var w = where(x > 0, sqrt(where(x > 0, x, 1)), x);  // the same values, finite gradients
template <class T>
WEFT_API Var<T> where(const Tensor<bool>& condition, const Var<T>& a, const Var<T>& b);
template <class A, class B>
requires Operands<A, B>
auto where(const Tensor<bool>& condition, const A& a, const B& b) {
  return detail::calculate([&](const auto& x, const auto& y) { return where(condition, x, y); }, a,
                           b);
}

namespace detail {

// Returns the tensor of a Var, a tensor itself, or a number as a tensor of the type of `other`.
template <class T, class Other>
const Tensor<T>& compared(const Tensor<T>& tensor, const Other& /*other*/) {
  return tensor;
}
template <class T, class Other>
const Tensor<T>& compared(const Var<T>& x, const Other& /*other*/) {
  return x.value();
}
template <Number N, class T>
Tensor<T> compared(N number, const Tensor<T>& /*other*/) {
  if constexpr (std::integral<T>)
    if (!std::in_range<T>(static_cast<std::int64_t>(number)))
      fail<ValueError>("comparison", "a 32-bit integer", number);
  return Tensor<T>::full({}, static_cast<T>(number));
}
template <Number N, class T>
Tensor<T> compared(N number, const Var<T>& other) {
  return compared(number, other.value());
}

template <class A, class B>
Tensor<bool> compare(const A& a, Comparison comparison, const B& b) {
  return weft::compare(compared(a, b), comparison, compared(b, a));
}

}  // namespace detail

// A Var, or a tensor of numbers.
template <class X>
concept NumberTensor = requires(const X& x) {
  detail::compared(x, x);
}
&&!std::same_as<X, Tensor<bool>>;

// Two variables or tensors of numbers, or one of them and a number. A tensor of integers can only
// be compared with integers.
template <class A, class B>
concept Comparable = (NumberTensor<A> && NumberTensor<B>) ||
                     (NumberTensor<A> && Number<B> &&
                      (std::integral<B> || !std::same_as<A, Tensor<std::int32_t>>)) ||
                     (Number<A> && NumberTensor<B> &&
                      (std::integral<A> || !std::same_as<B, Tensor<std::int32_t>>));

// Returns whether a < b, element by element (see `compare`); a or b may be a number.
template <class A, Comparable<A> B>
Tensor<bool> operator<(const A& a, const B& b) {
  return detail::compare(a, Comparison::less, b);
}
// Returns whether a ≤ b, element by element (see `compare`); a or b may be a number.
template <class A, Comparable<A> B>
Tensor<bool> operator<=(const A& a, const B& b) {
  return detail::compare(a, Comparison::less_equal, b);
}
// Returns whether a > b, element by element (see `compare`); a or b may be a number.
template <class A, Comparable<A> B>
Tensor<bool> operator>(const A& a, const B& b) {
  return detail::compare(a, Comparison::greater, b);
}
// Returns whether a ≥ b, element by element (see `compare`); a or b may be a number.
template <class A, Comparable<A> B>
Tensor<bool> operator>=(const A& a, const B& b) {
  return detail::compare(a, Comparison::greater_equal, b);
}
// Returns whether a equals b, element by element (see `compare`); a or b may be a number.
template <class A, Comparable<A> B>
Tensor<bool> operator==(const A& a, const B& b) {
  return detail::compare(a, Comparison::equal, b);
}
// Returns whether a differs from b, element by element (see `compare`); a or b may be a number.
template <class A, Comparable<A> B>
Tensor<bool> operator!=(const A& a, const B& b) {
  return detail::compare(a, Comparison::not_equal, b);
}

}  // namespace weft
