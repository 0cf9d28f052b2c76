// Arithmetic with tensors and numbers, with broadcasting and gradients.
#pragma once

#include <concepts>
#include <type_traits>

#include "weft/autograd/export.hpp"
#include "weft/autograd/operation.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/no_grad.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Computes `y = a + b` element by element (torch.add). The shapes broadcast by NumPy's rules:
// aligned at the last axis, sizes equal or 1. Throws ShapeError if they do not broadcast. The
// operators below also take numbers and, without gradients, plain tensors.
//   Var y = add(x, bias);  // x [2, 3], bias [3], y [2, 3]; or x + bias
//   Var z = 1 - 2 * x;
template <class T>
WEFT_API Var<T> add(const Var<T>& a, const Var<T>& b);
// Computes `y = a - b` element by element (torch.sub). The shapes broadcast by NumPy's rules.
// Throws ShapeError if they do not broadcast.
//   Var y = subtract(x, bias);  // or x - bias
template <class T>
WEFT_API Var<T> subtract(const Var<T>& a, const Var<T>& b);
// Computes `y = a · b` element by element (torch.mul). The shapes broadcast by NumPy's rules.
// Throws ShapeError if they do not broadcast.
//   Var y = multiply(x, bias);  // or x * bias; for matrix products see matmul
template <class T>
WEFT_API Var<T> multiply(const Var<T>& a, const Var<T>& b);
// Computes `y = a / b` element by element (torch.div). The shapes broadcast by NumPy's rules.
// Throws ShapeError if they do not broadcast.
//   Var y = divide(x, bias);  // or x / bias
template <class T>
WEFT_API Var<T> divide(const Var<T>& a, const Var<T>& b);

// A number of any built-in type, such as 2, 0.5 or 1e-5f.
template <class N>
concept Number = std::is_arithmetic_v<N>;

namespace detail {

// Returns `number`, rounded to T, as a constant of x's tape that broadcasts to any shape.
template <class T, Number N>
auto constant_like(const Var<T>& x, N number) {
  Tensor<T> value = x.tape().uninitialized({});
  *value.data() = static_cast<T>(static_cast<double>(number));
  return x.tape().constant(value);
}

// Returns function(a, b) for two variables, or for a variable and a number. For tensors, computes
// without gradients.
template <class Function, class T>
auto calculate(const Function& function, const Var<T>& a, const Var<T>& b) {
  return function(a, b);
}
template <class Function, class T, Number N>
auto calculate(const Function& function, const Var<T>& a, N b) {
  return function(a, constant_like(a, b));
}
template <class Function, class T, Number N>
auto calculate(const Function& function, N a, const Var<T>& b) {
  return function(constant_like(b, a), b);
}
template <class Function, class T>
auto calculate(const Function& function, const Tensor<T>& a, const Tensor<T>& b) {
  return no_grad(function, a, b);
}
template <class Function, class T, Number N>
auto calculate(const Function& function, const Tensor<T>& a, N b) {
  return no_grad([&](const Var<T>& x) { return calculate(function, x, b); }, a);
}
template <class Function, class T, Number N>
auto calculate(const Function& function, N a, const Tensor<T>& b) {
  return no_grad([&](const Var<T>& x) { return calculate(function, a, x); }, b);
}

template <class T>
void check_operand(const Var<T>& x);
template <std::floating_point T>
void check_operand(const Tensor<T>& x);

}  // namespace detail

// A variable, or a tensor of float or double. For tensors, the operators below return tensors,
// without gradients.
template <class X>
concept Operand = requires(const X& x) {
  detail::check_operand(x);
};

// Two operands of one type, or an operand and a number, which is rounded to the operand's element
// type.
template <class A, class B>
concept Operands = (Operand<A> && (std::same_as<A, B> || Number<B>)) || (Number<A> && Operand<B>);

// Returns `add(a, b)` for two variables, for two tensors, or for one of them and a number. Throws
// ShapeError if the shapes do not broadcast.
template <class A, class B>
requires Operands<A, B>
auto operator+(const A& a, const B& b) {
  return detail::calculate([](const auto& x, const auto& y) { return add(x, y); }, a, b);
}
// Returns `subtract(a, b)` for two variables, for two tensors, or for one of them and a number.
// Throws ShapeError if the shapes do not broadcast.
template <class A, class B>
requires Operands<A, B>
auto operator-(const A& a, const B& b) {
  return detail::calculate([](const auto& x, const auto& y) { return subtract(x, y); }, a, b);
}
// Returns `divide(a, b)` for two variables, for two tensors, or for one of them and a number.
// Throws ShapeError if the shapes do not broadcast.
template <class A, class B>
requires Operands<A, B>
auto operator/(const A& a, const B& b) {
  return detail::calculate([](const auto& x, const auto& y) { return divide(x, y); }, a, b);
}
// Returns `multiply(a, b)` for two variables or tensors, or `scale` of one of them by a number.
// Throws ShapeError if the shapes do not broadcast.
template <Operand X>
X operator*(const X& a, const X& b) {
  return detail::calculate([](const auto& x, const auto& y) { return multiply(x, y); }, a, b);
}
template <class T, Number N>
auto operator*(const Var<T>& x, N number) {
  return scale(x, static_cast<double>(number));
}
template <std::floating_point T, Number N>
Tensor<T> operator*(const Tensor<T>& x, N number) {
  return no_grad([number](const Var<T>& v) { return v * number; }, x);
}
template <Operand X, Number N>
X operator*(N number, const X& x) {
  return x * number;
}
// Returns -x, in the shape of x.
template <std::floating_point T>
Tensor<T> operator-(const Tensor<T>& x) {
  return x * -1;
}

}  // namespace weft
