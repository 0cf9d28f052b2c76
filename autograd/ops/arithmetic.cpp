#include "weft/autograd/ops/arithmetic.hpp"

#include <array>
#include <functional>
#include <numeric>
#include <utility>

#include "autograd/kernels/reduce.hpp"

namespace weft {
namespace {

// Iterates over two operands broadcast to a common shape. Adjacent axes that are contiguous in both
// operands are merged, so equal shapes have a single axis.
class BroadcastLoop {
 public:
  BroadcastLoop(const Shape& a, const Shape& b, const Shape& result)
      : elements_(result.elements()) {
    Index a_stride = 1, b_stride = 1;
    for (Index axis = 1; axis <= result.rank(); ++axis) {
      const Index a_size = axis <= a.rank() ? a[-axis] : 1;
      const Index b_size = axis <= b.rank() ? b[-axis] : 1;
      if (result[-axis] != 1)
        push({result[-axis], a_size == 1 ? 0 : a_stride, b_size == 1 ? 0 : b_stride});
      a_stride *= a_size;
      b_stride *= b_size;
    }
    if (count_ == 0) push({1, 1, 1});
  }

  // Calls `body(first, count, a, a_step, b, b_step)` on runs of results: result first + i is of
  // elements a + i a_step and b + i b_step. At least one of the steps is 1, the other 0 or 1.
  template <class Body>
  void for_each_run(const Body& body) const {
    const Axis& inner = axes_[0];
    parallel_for(elements_, grain_of(1), [&](Index begin, Index end) {
      for (Index first = begin; first < end;) {
        const Index column = first % inner.size;
        const Index count = std::min(inner.size - column, end - first);
        Index a = column * inner.a_step, b = column * inner.b_step, row = first / inner.size;
        for (std::size_t i = 1; i < count_; ++i) {
          a += row % axes_[i].size * axes_[i].a_step;
          b += row % axes_[i].size * axes_[i].b_step;
          row /= axes_[i].size;
        }
        body(first, count, a, inner.a_step, b, inner.b_step);
        first += count;
      }
    });
  }

 private:
  struct Axis {
    Index size, a_step, b_step;
  };

  void push(const Axis& axis) {
    if (count_ > 0) {
      Axis& last = axes_[count_ - 1];
      if (axis.a_step == last.a_step * last.size && axis.b_step == last.b_step * last.size) {
        last.size *= axis.size;
        return;
      }
    }
    axes_[count_++] = axis;
  }

  Index elements_;
  std::array<Axis, Shape::max_rank> axes_{};  // innermost first
  std::size_t count_ = 0;
};

// function(a, b), element by element, with the shape `result` that the two broadcast to.
template <class T, class Function>
Tensor<T> combine(const Pass<T>& pass, const Tensor<T>& a_tensor, const Tensor<T>& b_tensor,
                  const Shape& result, const Function& function) {
  Tensor<T> y_tensor = pass.uninitialized(result);
  BroadcastLoop(a_tensor.shape(), b_tensor.shape(), result)
      .for_each_run(
          [&](Index first, Index count, Index a_first, Index a_step, Index b_first, Index b_step) {
            const T* a = a_tensor.data() + a_first;
            const T* b = b_tensor.data() + b_first;
            T* y = y_tensor.data() + first;
            // A separate loop for each pair of steps, so that each is vectorized.
            if (a_step == b_step)
#pragma omp simd
              for (Index i = 0; i < count; ++i) y[i] = function(a[i], b[i]);
            else if (a_step == 0)
#pragma omp simd
              for (Index i = 0; i < count; ++i) y[i] = function(*a, b[i]);
            else
#pragma omp simd
              for (Index i = 0; i < count; ++i) y[i] = function(a[i], *b);
          });
  return y_tensor;
}

template <class T, class Function>
Tensor<T> combine(const char* operation, const Var<T>& a, const Var<T>& b,
                  const Function& function) {
  Pass<T>& pass = pass_of(operation, a, b);
  return combine(pass, a.value(), b.value(), broadcast(operation, a.shape(), b.shape()), function);
}

template <class T>
Tensor<T> negative(const Pass<T>& pass, const Tensor<T>& x) {
  Tensor<T> y = pass.uninitialized(x.shape());
  parallel_for(x.size(), grain_of(1),
               [&](Index begin, Index end) { array(y, begin, end) = -array(x, begin, end); });
  return y;
}

// What backward needs to add to the gradient of an operand.
struct Operand {
  NodeId node;
  Shape shape;

  template <class T>
  explicit Operand(const Var<T>& x) : node(x.node()), shape(x.shape()) {}
  bool wants_gradient() const { return node != no_node; }
};

// Adds dy, of the result's shape, to the gradient of an operand, after summing it over the axes
// along which the operand was broadcast.
template <class T>
void add_summed(Pass<T>& pass, const Operand& operand, Tensor<T> dy) {
  if (!operand.wants_gradient()) return;
  const Shape& shape = operand.shape;
  const Index added_axes = dy.rank() - shape.rank();
  for (Index axis = 0; axis < dy.rank(); ++axis) {
    const Shape current = dy.shape();
    const Index size = axis < added_axes ? 1 : shape[axis - added_axes];
    if (size == current[axis]) continue;
    const auto product = [](const Index* begin, const Index* end) {
      return std::accumulate(begin, end, Index{1}, std::multiplies<Index>());
    };
    const Index* axis_size = current.begin() + axis;
    dy = reduce<Sum>(pass,
                     {product(current.begin(), axis_size), *axis_size,
                      product(axis_size + 1, current.end())},
                     Elements<T>{std::as_const(dy).data()})
             .reshaped(current.with(axis, 1));
  }
  pass.add_gradient(operand.node, dy);
}

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
          add_summed(backward, a, combine(backward, dy, b_value, dy.shape(), product));
        if (b.wants_gradient())
          add_summed(backward, b, combine(backward, dy, a_value, dy.shape(), product));
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
        const Tensor<T> da = combine(backward, dy, b_value, dy.shape(), std::divides<T>());
        add_summed(backward, a, da);
        if (b.wants_gradient())
          add_summed(backward, b,
                     combine(backward, da, y, dy.shape(), [](T g, T value) { return -g * value; }));
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
