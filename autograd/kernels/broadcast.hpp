// Functions of tensors and numbers that broadcast to a common shape, and their gradients.
// Included by definitions only, never by another header of weft.
#pragma once

#include <array>
#include <functional>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

#include "autograd/kernels/reduce.hpp"

namespace weft {

// Iterates over N operands broadcast to a common shape. Adjacent axes that are contiguous in all
// operands are merged, so equal shapes have a single axis.
template <std::size_t N>
class BroadcastLoop {
 public:
  // One number for each operand: the offset of an element, or the step to the next element.
  using Offsets = std::array<Index, N>;

  BroadcastLoop(const std::array<Shape, N>& operands, const Shape& result)
      : elements_(result.elements()) {
    Offsets strides;
    strides.fill(1);
    for (Index axis = 1; axis <= result.rank(); ++axis) {
      Axis next{result[-axis], {}};
      for (std::size_t n = 0; n < N; ++n) {
        const Index size = axis <= operands[n].rank() ? operands[n][-axis] : 1;
        next.steps[n] = size == 1 ? 0 : strides[n];
        strides[n] *= size;
      }
      if (next.size != 1) push(next);
    }
    if (count_ == 0) push({1, {}});
  }

  // Calls `body(first, count, offsets, steps)` on runs of results: result first + i is computed
  // from element offsets[n] + i · steps[n] of each operand n. Each step is 0 or 1.
  template <class Body>
  void for_each_run(const Body& body) const {
    const Axis& inner = axes_[0];
    parallel_for(elements_, grain_of(1), [&](Index begin, Index end) {
      for (Index first = begin; first < end;) {
        const Index column = first % inner.size;
        const Index count = std::min(inner.size - column, end - first);
        Offsets offsets;
        for (std::size_t n = 0; n < N; ++n) offsets[n] = column * inner.steps[n];
        Index row = first / inner.size;
        for (std::size_t i = 1; i < count_; ++i) {
          for (std::size_t n = 0; n < N; ++n) offsets[n] += row % axes_[i].size * axes_[i].steps[n];
          row /= axes_[i].size;
        }
        body(first, count, offsets, inner.steps);
        first += count;
      }
    });
  }

 private:
  struct Axis {
    Index size;
    Offsets steps;
  };

  void push(const Axis& axis) {
    if (count_ > 0) {
      Axis& last = axes_[count_ - 1];
      bool contiguous = true;
      for (std::size_t n = 0; n < N; ++n)
        contiguous = contiguous && axis.steps[n] == last.steps[n] * last.size;
      if (contiguous) {
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

// The elements of an operand, which is a tensor or a number that broadcasts to any shape. Only
// refers to the operand.
template <class T>
struct BroadcastInput {
  using Element = T;
  const T* data;
  Shape shape;

  BroadcastInput(const Tensor<T>& tensor) : data(tensor.data()), shape(tensor.shape()) {}
  BroadcastInput(const T& number) : data(&number), shape() {}
};

namespace detail {

// Sets y[i] = function(input[i * step]...), with a separate loop for each combination of steps, so
// that each loop is vectorized. `known` are the steps of the first inputs, as constants.
template <class U, class Function, std::size_t N, class... Inputs, class... Known>
void map_run(U* y, Index count, const Function& function, const std::array<Index, N>& steps,
             const std::tuple<const Inputs*...>& inputs, Known... known) {
  if constexpr (sizeof...(Known) < N) {
    if (steps[sizeof...(Known)] == 0)
      map_run(y, count, function, steps, inputs, known..., std::integral_constant<Index, 0>());
    else
      map_run(y, count, function, steps, inputs, known..., std::integral_constant<Index, 1>());
  } else {
    std::apply(
        [&](const Inputs*... input) {
#pragma omp simd
          for (Index i = 0; i < count; ++i) y[i] = function(input[i * Known::value]...);
        },
        inputs);
  }
}

}  // namespace detail

// Sets y = function(inputs...), element by element. y has the shape to which the inputs broadcast.
template <class U, class Function, class... T>
void broadcast_map(Tensor<U>& y_tensor, const Function& function,
                   const BroadcastInput<T>&... inputs) {
  U* const y = y_tensor.data();
  [&]<std::size_t... n>(std::index_sequence<n...>) {
    BroadcastLoop<sizeof...(T)>({inputs.shape...}, y_tensor.shape())
        .for_each_run([&](Index first, Index count, const auto& offsets, const auto& steps) {
          detail::map_run(y + first, count, function, steps,
                          std::tuple<const T*...>(inputs.data + offsets[n]...));
        });
  }
  (std::index_sequence_for<T...>());
}

// The data that backward needs to add to the gradient of an operand.
struct BroadcastOperand {
  NodeId node;
  Shape shape;

  template <class T>
  explicit BroadcastOperand(const Var<T>& x) : node(x.node()), shape(x.shape()) {}
  bool wants_gradient() const { return node != no_node; }
};

// Adds dy, of the result's shape, to the gradient of an operand, after summing it over the axes
// along which the operand was broadcast.
template <class T>
void add_summed(Tape<T>& tape, const BroadcastOperand& operand, Tensor<T> dy) {
  if (!operand.wants_gradient()) return;
  const Shape& shape = operand.shape;
  if (dy.shape() == shape) return tape.add_gradient(operand.node, dy);
  const Index added_axes = dy.rank() - shape.rank();
  for (Index axis = 0; axis < dy.rank(); ++axis) {
    const Shape current = dy.shape();
    const Index size = axis < added_axes ? 1 : shape[axis - added_axes];
    if (size == current[axis]) continue;
    const auto product = [](const Index* begin, const Index* end) {
      return std::accumulate(begin, end, Index{1}, std::multiplies<Index>());
    };
    const Index* axis_size = current.begin() + axis;
    dy = reduce<Sum>(tape,
                     {product(current.begin(), axis_size), *axis_size,
                      product(axis_size + 1, current.end())},
                     Elements<T>{std::as_const(dy).data()})
             .reshaped(current.with(axis, 1));
  }
  tape.add_gradient(operand.node, dy);
}

}  // namespace weft
