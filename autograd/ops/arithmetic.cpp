#include "weft/autograd/ops/arithmetic.hpp"

#include "autograd/kernels/broadcast.hpp"

namespace weft {
namespace {

// function(a, b), element by element, with the shape `result` that the two broadcast to.
template <class T, class Function>
Tensor<T> combine(const Pass<T>& pass, const BroadcastInput<T>& a, const BroadcastInput<T>& b,
                  const Shape& result, const Function& function) {
  Tensor<T> y = pass.uninitialized(result);
  broadcast_map(y, function, a, b);
  return y;
}

template <class T, class Function>
Tensor<T> combine(const char* operation, const Var<T>& a, const Var<T>& b,
                  const Function& function) {
  Pass<T>& pass = pass_of(operation, a, b);
  return combine<T>(pass, a.value(), b.value(), broadcast(operation, a.shape(), b.shape()),
                    function);
}

template <class T>
Tensor<T> negative(const Pass<T>& pass, const Tensor<T>& x) {
  Tensor<T> y = pass.uninitialized(x.shape());
  parallel_for(x.size(), grain_of(1),
               [&](Index begin, Index end) { array(y, begin, end) = -array(x, begin, end); });
  return y;
}

using Operand = BroadcastOperand;

}  // namespace

// Forward:  y = a + b.
// Backward: da = dy, db = dy; here and below, summed over the axes along which a or b is broadcast.
template <class T>
Var<T> add(const Var<T>& a, const Var<T>& b) {
  const Tensor<T> y = combine("add", a, b, std::plus<T>());
  return a.pass().record("add", y, {a.node(), b.node()},
                         [a = Operand(a), b = Operand(b)](Pass<T>& backward, const Tensor<T>& dy) {
                           add_summed(backward, a, dy);
                           add_summed(backward, b, dy);
                         });
}

// Forward:  y = a - b.
// Backward: da = dy, db = -dy.
template <class T>
Var<T> subtract(const Var<T>& a, const Var<T>& b) {
  const Tensor<T> y = combine("subtract", a, b, std::minus<T>());
  return a.pass().record("subtract", y, {a.node(), b.node()},
                         [a = Operand(a), b = Operand(b)](Pass<T>& backward, const Tensor<T>& dy) {
                           add_summed(backward, a, dy);
                           if (b.wants_gradient()) add_summed(backward, b, negative(backward, dy));
                         });
}

// Forward:  y = a b.
// Backward: da = dy b, db = dy a.
template <class T>
Var<T> multiply(const Var<T>& a, const Var<T>& b) {
  const auto product = std::multiplies<T>();
  const Tensor<T> y = combine("multiply", a, b, product);
  return a.pass().record(
      "multiply", y, {a.node(), b.node()},
      [a = Operand(a), b = Operand(b), a_value = a.value(), b_value = b.value(), product](
          Pass<T>& backward, const Tensor<T>& dy) {
        if (a.wants_gradient())
          add_summed(backward, a, combine<T>(backward, dy, b_value, dy.shape(), product));
        if (b.wants_gradient())
          add_summed(backward, b, combine<T>(backward, dy, a_value, dy.shape(), product));
      });
}

// Forward:  y = a / b.
// Backward: da = dy / b, db = -(dy / b) y.
template <class T>
Var<T> divide(const Var<T>& a, const Var<T>& b) {
  const Tensor<T> y = combine("divide", a, b, std::divides<T>());
  return a.pass().record(
      "divide", y, {a.node(), b.node()},
      [a = Operand(a), b = Operand(b), b_value = b.value(), y](Pass<T>& backward,
                                                               const Tensor<T>& dy) {
        const Tensor<T> da = combine<T>(backward, dy, b_value, dy.shape(), std::divides<T>());
        add_summed(backward, a, da);
        if (b.wants_gradient())
          add_summed(backward, b, combine<T>(backward, da, y, dy.shape(), [](T g, T value) {
                       return -g * value;
                     }));
      });
}

// Forward:  y = x + number.
// Backward: dx = dy.
template <class T>
Var<T> add(const Var<T>& x, double number) {
  const Tensor<T> y =
      combine<T>(x.pass(), x.value(), static_cast<T>(number), x.shape(), std::plus<T>());
  return x.pass().record(
      "add", y, {x.node()},
      [x = x.node()](Pass<T>& backward, const Tensor<T>& dy) { backward.add_gradient(x, dy); });
}

// Forward:  y = number - x.
// Backward: dx = -dy.
template <class T>
Var<T> subtract(double number, const Var<T>& x) {
  const Tensor<T> y =
      combine<T>(x.pass(), static_cast<T>(number), x.value(), x.shape(), std::minus<T>());
  return x.pass().record("subtract", y, {x.node()},
                         [x = x.node()](Pass<T>& backward, const Tensor<T>& dy) {
                           backward.add_gradient(x, negative(backward, dy));
                         });
}

// Forward:  y = x / number.
// Backward: dx = dy / number.
template <class T>
Var<T> divide(const Var<T>& x, double number) {
  const auto divisor = static_cast<T>(number);
  const Tensor<T> y = combine<T>(x.pass(), x.value(), divisor, x.shape(), std::divides<T>());
  return x.pass().record(
      "divide", y, {x.node()}, [x = x.node(), divisor](Pass<T>& backward, const Tensor<T>& dy) {
        backward.add_gradient(x, combine<T>(backward, dy, divisor, dy.shape(), std::divides<T>()));
      });
}

// Forward:  y = number / x.
// Backward: dx = -(dy / x) y.
template <class T>
Var<T> divide(double number, const Var<T>& x) {
  const Tensor<T> y =
      combine<T>(x.pass(), static_cast<T>(number), x.value(), x.shape(), std::divides<T>());
  return x.pass().record(
      "divide", y, {x.node()},
      [x = x.node(), x_value = x.value(), y](Pass<T>& backward, const Tensor<T>& dy) {
        Tensor<T> dx = backward.uninitialized(dy.shape());
        broadcast_map<T>(
            dx, [](T g, T v, T q) { return -(g / v) * q; }, BroadcastInput<T>(dy),
            BroadcastInput<T>(x_value), BroadcastInput<T>(y));
        backward.add_gradient(x, dx);
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
template Var<float> add(const Var<float>&, double);
template Var<double> add(const Var<double>&, double);
template Var<float> subtract(double, const Var<float>&);
template Var<double> subtract(double, const Var<double>&);
template Var<float> divide(const Var<float>&, double);
template Var<double> divide(const Var<double>&, double);
template Var<float> divide(double, const Var<float>&);
template Var<double> divide(double, const Var<double>&);

}  // namespace weft
