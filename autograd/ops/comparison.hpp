// Comparisons of tensors and numbers, and the choice between two tensors by a condition.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

enum class Comparison { less, less_equal, greater, greater_equal, equal, not_equal };

// Whether a < b (or another comparison) holds, element by element. The shapes broadcast as NumPy's
// do. NaN differs from every number, itself included. Throw ShapeError for shapes that do not
// broadcast. T is float, double or std::int32_t.
template <class T>
WEFT_API Tensor<bool> compare(const Tensor<T>& a, Comparison comparison, const Tensor<T>& b);
template <class T>
Tensor<bool> compare(const Tensor<T>& a, Comparison comparison, T b) {
  return compare(a, comparison, Tensor<T>::full({}, b));
}

// condition ? a : b, element by element; a and b are tensors or numbers, and broadcast together
// with the condition. The gradient of an element goes to the one that was chosen, 0 to the other
// (also where the other is NaN or infinite). Throw ShapeError for shapes that do not broadcast.
template <class T>
WEFT_API Var<T> where(const Tensor<bool>& condition, const Var<T>& a, const Var<T>& b);
template <class T>
Var<T> where(const Tensor<bool>& condition, const Var<T>& a, double b) {
  return where(condition, a, detail::constant_like(a, b));
}
template <class T>
Var<T> where(const Tensor<bool>& condition, double a, const Var<T>& b) {
  return where(condition, detail::constant_like(b, a), b);
}

// The same for tensors, without gradients.
template <std::floating_point T>
Tensor<T> where(const Tensor<bool>& condition, const Tensor<T>& a, const Tensor<T>& b) {
  return no_grad([&](const auto& x, const auto& y) { return where(condition, x, y); }, a, b);
}
template <std::floating_point T>
Tensor<T> where(const Tensor<bool>& condition, const Tensor<T>& a, double b) {
  return no_grad([&](const auto& x) { return where(condition, x, b); }, a);
}
template <std::floating_point T>
Tensor<T> where(const Tensor<bool>& condition, double a, const Tensor<T>& b) {
  return no_grad([&](const auto& x) { return where(condition, a, x); }, b);
}

namespace detail {

// The tensor of a Var, and a tensor itself.
template <class T>
const Tensor<T>& compared(const Tensor<T>& tensor) {
  return tensor;
}
template <class T>
const Tensor<T>& compared(const Var<T>& x) {
  return x.value();
}

template <class A, class B>
Tensor<bool> compare(const A& a, Comparison comparison, Comparison mirrored, const B& b) {
  if constexpr (Number<A>)
    return compare(b, mirrored, comparison, a);
  else if constexpr (Number<B>)
    return [&]<class T>(const Tensor<T>& tensor) {
      if constexpr (std::integral<T>)
        if (!std::in_range<T>(static_cast<std::int64_t>(b)))
          fail<ValueError>("comparison", "an integer of 32 bits", b);
      return weft::compare(tensor, comparison, static_cast<T>(b));
    }(compared(a));
  else
    return weft::compare(compared(a), comparison, compared(b));
}

}  // namespace detail

// A Var, or a tensor of numbers.
template <class X>
concept NumberTensor = requires(const X& x) {
  detail::compared(x);
}
&&!std::same_as<X, Tensor<bool>>;

// Two of them, or one and a number. A tensor of integers is compared with integers only.
template <class A, class B>
concept Comparable = (NumberTensor<A> && NumberTensor<B>) ||
                     (NumberTensor<A> && Number<B> &&
                      (std::integral<B> || !std::same_as<A, Tensor<std::int32_t>>)) ||
                     (Number<A> && NumberTensor<B> &&
                      (std::integral<A> || !std::same_as<B, Tensor<std::int32_t>>));

template <class A, Comparable<A> B>
Tensor<bool> operator<(const A& a, const B& b) {
  return detail::compare(a, Comparison::less, Comparison::greater, b);
}
template <class A, Comparable<A> B>
Tensor<bool> operator<=(const A& a, const B& b) {
  return detail::compare(a, Comparison::less_equal, Comparison::greater_equal, b);
}
template <class A, Comparable<A> B>
Tensor<bool> operator>(const A& a, const B& b) {
  return detail::compare(a, Comparison::greater, Comparison::less, b);
}
template <class A, Comparable<A> B>
Tensor<bool> operator>=(const A& a, const B& b) {
  return detail::compare(a, Comparison::greater_equal, Comparison::less_equal, b);
}
template <class A, Comparable<A> B>
Tensor<bool> operator==(const A& a, const B& b) {
  return detail::compare(a, Comparison::equal, Comparison::equal, b);
}
template <class A, Comparable<A> B>
Tensor<bool> operator!=(const A& a, const B& b) {
  return detail::compare(a, Comparison::not_equal, Comparison::not_equal, b);
}

}  // namespace weft
