#include "weft/autograd/ops/comparison.hpp"

#include "autograd/kernels/broadcast.hpp"

namespace weft {
namespace {

template <class T>
Tensor<bool> compare(const BroadcastInput<T>& a, Comparison comparison,
                     const BroadcastInput<T>& b) {
  Tensor<bool> y = Tensor<bool>::uninitialized(broadcast("comparison", a.shape, b.shape));
  switch (comparison) {
    case Comparison::less:
      broadcast_map(y, std::less<T>(), a, b);
      return y;
    case Comparison::less_equal:
      broadcast_map(y, std::less_equal<T>(), a, b);
      return y;
    case Comparison::greater:
      broadcast_map(y, std::greater<T>(), a, b);
      return y;
    case Comparison::greater_equal:
      broadcast_map(y, std::greater_equal<T>(), a, b);
      return y;
    case Comparison::equal:
      broadcast_map(y, std::equal_to<T>(), a, b);
      return y;
    case Comparison::not_equal:
      broadcast_map(y, std::not_equal_to<T>(), a, b);
      return y;
  }
  fail<ValueError>("comparison", "a Comparison", static_cast<int>(comparison));
}

// condition ? a : b, of a shape.
template <class T>
Tensor<T> choose(const Pass<T>& pass, const Shape& shape, const Tensor<bool>& condition,
                 const BroadcastInput<T>& a, const BroadcastInput<T>& b) {
  Tensor<T> y = pass.uninitialized(shape);
  broadcast_map(
      y, [](bool first, T v, T w) { return first ? v : w; }, BroadcastInput<bool>(condition), a, b);
  return y;
}

}  // namespace

template <class T>
Tensor<bool> compare(const Tensor<T>& a, Comparison comparison, const Tensor<T>& b) {
  return compare(BroadcastInput<T>(a), comparison, BroadcastInput<T>(b));
}

template <class T>
Tensor<bool> compare(const Tensor<T>& a, Comparison comparison, T b) {
  return compare(BroadcastInput<T>(a), comparison, BroadcastInput<T>(b));
}

// Forward:  y = condition ? a : b.
// Backward: da = condition ? dy : 0, db = condition ? 0 : dy, each summed over the axes along which
// a or b is broadcast.
template <class T>
Var<T> where(const Tensor<bool>& condition, const Var<T>& a, const Var<T>& b) {
  Pass<T>& pass = pass_of("where", a, b);
  const Shape shape =
      broadcast("where", condition.shape(), broadcast("where", a.shape(), b.shape()));
  return pass.record(
      "where", choose<T>(pass, shape, condition, a.value(), b.value()), {a.node(), b.node()},
      [a = BroadcastOperand(a), b = BroadcastOperand(b), condition](Pass<T>& backward,
                                                                    const Tensor<T>& dy) {
        if (a.wants_gradient())
          add_summed(backward, a, choose<T>(backward, dy.shape(), condition, dy, T{0}));
        if (b.wants_gradient())
          add_summed(backward, b, choose<T>(backward, dy.shape(), condition, T{0}, dy));
      });
}

template <class T>
Var<T> where(const Tensor<bool>& condition, const Var<T>& a, double b) {
  Pass<T>& pass = a.pass();
  const Shape shape = broadcast("where", condition.shape(), a.shape());
  return pass.record(
      "where", choose<T>(pass, shape, condition, a.value(), static_cast<T>(b)), {a.node()},
      [a = BroadcastOperand(a), condition](Pass<T>& backward, const Tensor<T>& dy) {
        add_summed(backward, a, choose<T>(backward, dy.shape(), condition, dy, T{0}));
      });
}

template <class T>
Var<T> where(const Tensor<bool>& condition, double a, const Var<T>& b) {
  Pass<T>& pass = b.pass();
  const Shape shape = broadcast("where", condition.shape(), b.shape());
  return pass.record(
      "where", choose<T>(pass, shape, condition, static_cast<T>(a), b.value()), {b.node()},
      [b = BroadcastOperand(b), condition](Pass<T>& backward, const Tensor<T>& dy) {
        add_summed(backward, b, choose<T>(backward, dy.shape(), condition, T{0}, dy));
      });
}

template Tensor<bool> compare(const Tensor<float>&, Comparison, const Tensor<float>&);
template Tensor<bool> compare(const Tensor<double>&, Comparison, const Tensor<double>&);
template Tensor<bool> compare(const Tensor<std::int32_t>&, Comparison, const Tensor<std::int32_t>&);
template Tensor<bool> compare(const Tensor<float>&, Comparison, float);
template Tensor<bool> compare(const Tensor<double>&, Comparison, double);
template Tensor<bool> compare(const Tensor<std::int32_t>&, Comparison, std::int32_t);
template Var<float> where(const Tensor<bool>&, const Var<float>&, const Var<float>&);
template Var<double> where(const Tensor<bool>&, const Var<double>&, const Var<double>&);
template Var<float> where(const Tensor<bool>&, const Var<float>&, double);
template Var<double> where(const Tensor<bool>&, const Var<double>&, double);
template Var<float> where(const Tensor<bool>&, double, const Var<float>&);
template Var<double> where(const Tensor<bool>&, double, const Var<double>&);

}  // namespace weft
