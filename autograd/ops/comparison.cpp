#include "weft/autograd/ops/comparison.hpp"

#include "autograd/kernels/broadcast.hpp"

namespace weft {
namespace {

// Returns condition ? a : b, in the given shape.
template <class T>
Tensor<T> choose(const Tape<T>& tape, const Shape& shape, const Tensor<bool>& condition,
                 const BroadcastInput<T>& a, const BroadcastInput<T>& b) {
  Tensor<T> y = tape.uninitialized(shape);
  broadcast_map(
      y, [](bool first, T v, T w) { return first ? v : w; }, BroadcastInput<bool>(condition), a, b);
  return y;
}

}  // namespace

template <class T>
Tensor<bool> compare(const Tensor<T>& a, Comparison comparison, const Tensor<T>& b) {
  Tensor<bool> y = Tensor<bool>::uninitialized(broadcast("comparison", a.shape(), b.shape()));
  const auto where_it_holds = [&](const auto& holds) {
    broadcast_map(y, holds, BroadcastInput<T>(a), BroadcastInput<T>(b));
    return y;
  };
  switch (comparison) {
    case Comparison::less:
      return where_it_holds(std::less<T>());
    case Comparison::less_equal:
      return where_it_holds(std::less_equal<T>());
    case Comparison::greater:
      return where_it_holds(std::greater<T>());
    case Comparison::greater_equal:
      return where_it_holds(std::greater_equal<T>());
    case Comparison::equal:
      return where_it_holds(std::equal_to<T>());
    case Comparison::not_equal:
      return where_it_holds(std::not_equal_to<T>());
  }
  fail<ValueError>("comparison", "a Comparison", static_cast<int>(comparison));
}

// Forward:  y = condition ? a : b.
// Backward: da = condition ? dy : 0, db = condition ? 0 : dy, each summed over the axes along which
// a or b is broadcast.
template <class T>
Var<T> where(const Tensor<bool>& condition, const Var<T>& a, const Var<T>& b) {
  Tape<T>& tape = tape_of("where", a, b);
  const Shape shape =
      broadcast("where", condition.shape(), broadcast("where", a.shape(), b.shape()));
  return tape.record(
      "where", choose<T>(tape, shape, condition, a.value(), b.value()), {a.node(), b.node()},
      [a = BroadcastOperand(a), b = BroadcastOperand(b), condition](Tape<T>& backward,
                                                                    const Tensor<T>& dy) {
        if (a.wants_gradient())
          add_summed(backward, a, choose<T>(backward, dy.shape(), condition, dy, T{0}));
        if (b.wants_gradient())
          add_summed(backward, b, choose<T>(backward, dy.shape(), condition, T{0}, dy));
      });
}

template Tensor<bool> compare(const Tensor<float>&, Comparison, const Tensor<float>&);
template Tensor<bool> compare(const Tensor<double>&, Comparison, const Tensor<double>&);
template Tensor<bool> compare(const Tensor<std::int32_t>&, Comparison, const Tensor<std::int32_t>&);
template Var<float> where(const Tensor<bool>&, const Var<float>&, const Var<float>&);
template Var<double> where(const Tensor<bool>&, const Var<double>&, const Var<double>&);

}  // namespace weft
