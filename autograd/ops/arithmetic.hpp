// Arithmetic between tensors and numbers, with broadcasting and gradients.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/no_grad.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// a + b, a - b, a · b (element by element) and a / b. The shapes broadcast as NumPy's do: aligned
// at the last axis, sizes equal or 1. Throw ShapeError when they do not.
template <class T>
WEFT_API Var<T> add(const Var<T>& a, const Var<T>& b);
template <class T>
WEFT_API Var<T> subtract(const Var<T>& a, const Var<T>& b);
template <class T>
WEFT_API Var<T> multiply(const Var<T>& a, const Var<T>& b);
template <class T>
WEFT_API Var<T> divide(const Var<T>& a, const Var<T>& b);

// The same with a number for each element, which is rounded to T first. See `scale` for x · number.
template <class T>
WEFT_API Var<T> add(const Var<T>& x, double number);
template <class T>
WEFT_API Var<T> subtract(double number, const Var<T>& x);
template <class T>
WEFT_API Var<T> divide(const Var<T>& x, double number);
template <class T>
WEFT_API Var<T> divide(double number, const Var<T>& x);

template <class T>
Var<T> operator+(const Var<T>& a, const Var<T>& b) {
  return add(a, b);
}
template <class T>
Var<T> operator-(const Var<T>& a, const Var<T>& b) {
  return subtract(a, b);
}
template <class T>
Var<T> operator*(const Var<T>& a, const Var<T>& b) {
  return multiply(a, b);
}
template <class T>
Var<T> operator/(const Var<T>& a, const Var<T>& b) {
  return divide(a, b);
}

// A number of any built-in type, such as 2, 0.5 or 1e-5f.
template <class N>
concept Number = std::is_arithmetic_v<N>;

template <class T, Number N>
Var<T> operator+(const Var<T>& x, N number) {
  return add(x, static_cast<double>(number));
}
template <class T, Number N>
Var<T> operator+(N number, const Var<T>& x) {
  return add(x, static_cast<double>(number));
}
template <class T, Number N>
Var<T> operator-(const Var<T>& x, N number) {
  return add(x, -static_cast<double>(number));
}
template <class T, Number N>
Var<T> operator-(N number, const Var<T>& x) {
  return subtract(static_cast<double>(number), x);
}
template <class T, Number N>
Var<T> operator*(const Var<T>& x, N number) {
  return scale(x, static_cast<double>(number));
}
template <class T, Number N>
Var<T> operator*(N number, const Var<T>& x) {
  return scale(x, static_cast<double>(number));
}
template <class T, Number N>
Var<T> operator/(const Var<T>& x, N number) {
  return divide(x, static_cast<double>(number));
}
template <class T, Number N>
Var<T> operator/(N number, const Var<T>& x) {
  return divide(static_cast<double>(number), x);
}

// The same operators for tensors, without gradients.
template <std::floating_point T>
Tensor<T> operator-(const Tensor<T>& x) {
  return no_grad(std::negate<>(), x);
}
template <std::floating_point T>
Tensor<T> operator+(const Tensor<T>& a, const Tensor<T>& b) {
  return no_grad(std::plus<>(), a, b);
}
template <std::floating_point T, Number N>
Tensor<T> operator+(const Tensor<T>& x, N number) {
  return no_grad([number](const Var<T>& v) { return v + number; }, x);
}
template <std::floating_point T, Number N>
Tensor<T> operator+(N number, const Tensor<T>& x) {
  return no_grad([number](const Var<T>& v) { return number + v; }, x);
}
template <std::floating_point T>
Tensor<T> operator-(const Tensor<T>& a, const Tensor<T>& b) {
  return no_grad(std::minus<>(), a, b);
}
template <std::floating_point T, Number N>
Tensor<T> operator-(const Tensor<T>& x, N number) {
  return no_grad([number](const Var<T>& v) { return v - number; }, x);
}
template <std::floating_point T, Number N>
Tensor<T> operator-(N number, const Tensor<T>& x) {
  return no_grad([number](const Var<T>& v) { return number - v; }, x);
}
template <std::floating_point T>
Tensor<T> operator*(const Tensor<T>& a, const Tensor<T>& b) {
  return no_grad(std::multiplies<>(), a, b);
}
template <std::floating_point T, Number N>
Tensor<T> operator*(const Tensor<T>& x, N number) {
  return no_grad([number](const Var<T>& v) { return v * number; }, x);
}
template <std::floating_point T, Number N>
Tensor<T> operator*(N number, const Tensor<T>& x) {
  return no_grad([number](const Var<T>& v) { return number * v; }, x);
}
template <std::floating_point T>
Tensor<T> operator/(const Tensor<T>& a, const Tensor<T>& b) {
  return no_grad(std::divides<>(), a, b);
}
template <std::floating_point T, Number N>
Tensor<T> operator/(const Tensor<T>& x, N number) {
  return no_grad([number](const Var<T>& v) { return v / number; }, x);
}
template <std::floating_point T, Number N>
Tensor<T> operator/(N number, const Tensor<T>& x) {
  return no_grad([number](const Var<T>& v) { return number / v; }, x);
}

}  // namespace weft
