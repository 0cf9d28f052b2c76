#include "weft/autograd/ops/arithmetic.hpp"

#include "autograd/kernels/broadcast.hpp"

namespace weft {
namespace {

// Returns function(inputs...), element by element, in the shape `result` to which the inputs
// broadcast.
template <class T, class Function, class... Inputs>
Tensor<T> combine(const Tape<T>& tape, const Shape& result, const Function& function,
                  const Inputs&... inputs) {
  Tensor<T> y = tape.uninitialized(result);
  broadcast_map(y, function, BroadcastInput<T>(inputs)...);
  return y;
}

template <class T, class Function>
Tensor<T> combine(const char* operation, const Var<T>& a, const Var<T>& b,
                  const Function& function) {
  Tape<T>& tape = tape_of(operation, a, b);
  return combine(tape, broadcast(operation, a.shape(), b.shape()), function, a.value(), b.value());
}

}  // namespace

// Forward:  y = a + b.
// Backward: da = dy, db = dy; here and below, summed over the axes along which a or b is broadcast.
template <class T>
Var<T> add(const Var<T>& a, const Var<T>& b) {
  const Tensor<T> y = combine("add", a, b, std::plus<T>());
  return a.tape().record(
      "add", y, {a.node(), b.node()},
      [a = BroadcastOperand(a), b = BroadcastOperand(b)](Tape<T>& backward, const Tensor<T>& dy) {
        add_summed(backward, a, dy);
        add_summed(backward, b, dy);
      });
}

// Forward:  y = a - b.
// Backward: da = dy, db = -dy.
template <class T>
Var<T> subtract(const Var<T>& a, const Var<T>& b) {
  const Tensor<T> y = combine("subtract", a, b, std::minus<T>());
  return a.tape().record(
      "subtract", y, {a.node(), b.node()},
      [a = BroadcastOperand(a), b = BroadcastOperand(b)](Tape<T>& backward, const Tensor<T>& dy) {
        add_summed(backward, a, dy);
        if (b.wants_gradient())
          add_summed(backward, b, combine(backward, dy.shape(), std::negate<T>(), dy));
      });
}

// Forward:  y = a b.
// Backward: da = dy b, db = dy a.
template <class T>
Var<T> multiply(const Var<T>& a, const Var<T>& b) {
  const auto product = std::multiplies<T>();
  const Tensor<T> y = combine("multiply", a, b, product);
  return a.tape().record(
      "multiply", y, {a.node(), b.node()},
      [a = BroadcastOperand(a), b = BroadcastOperand(b), a_value = a.value(), b_value = b.value(),
       product](Tape<T>& backward, const Tensor<T>& dy) {
        if (a.wants_gradient())
          add_summed(backward, a, combine(backward, dy.shape(), product, dy, b_value));
        if (b.wants_gradient())
          add_summed(backward, b, combine(backward, dy.shape(), product, dy, a_value));
      });
}

// Forward:  y = a / b.
// Backward: da = dy / b, db = -(dy / b) y.
template <class T>
Var<T> divide(const Var<T>& a, const Var<T>& b) {
  const Tensor<T> y = combine("divide", a, b, std::divides<T>());
  return a.tape().record(
      "divide", y, {a.node(), b.node()},
      [a = BroadcastOperand(a), b = BroadcastOperand(b), b_value = b.value(), y](
          Tape<T>& backward, const Tensor<T>& dy) {
        if (!a.wants_gradient()) {
          const auto db = [](T g, T v, T q) { return -(g / v) * q; };
          return add_summed(backward, b, combine(backward, dy.shape(), db, dy, b_value, y));
        }
        const Tensor<T> da = combine(backward, dy.shape(), std::divides<T>(), dy, b_value);
        add_summed(backward, a, da);
        const auto db = [](T g, T q) { return -g * q; };
        if (b.wants_gradient()) add_summed(backward, b, combine(backward, dy.shape(), db, da, y));
      });
}

template Var<float> add(const Var<float>&, const Var<float>&);
template Var<double> add(const Var<double>&, const Var<double>&);
template Var<float> subtract(const Var<float>&, const Var<float>&);
template Var<double> subtract(const Var<double>&, const Var<double>&);
template Var<float> multiply(const Var<float>&, const Var<float>&);
template Var<double> multiply(const Var<double>&, const Var<double>&);
template Var<float> divide(const Var<float>&, const Var<float>&);
template Var<double> divide(const Var<double>&, const Var<double>&);

}  // namespace weft
