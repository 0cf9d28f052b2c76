#include "weft/autograd/ops/packed_steps.hpp"

#include <algorithm>
#include <limits>

#include "weft/autograd/ops/indexing.hpp"
#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

// Throws ShapeError unless x has the shape [batch, …, size] for a mask [batch, time].
void check_batch(const char* operation, const Shape& x, const Shape& mask, bool same_time) {
  if (x.rank() != 3 || mask.rank() != 2 || x[0] != mask[0] || (same_time && x[1] != mask[1]))
    fail<ShapeError>(operation,
                     str_cat(same_time ? "x [batch, time, size]" : "states [batch, steps, size]",
                             " and mask [batch, time]"),
                     str_cat(x, " and ", mask));
}

Index most_steps(const Tensor<bool>& mask) {
  const Tensor<std::int32_t> counts = count_steps(mask).lengths();
  return counts.empty() ? 0 : *std::ranges::max_element(counts);
}

// Forward:  y[b, i] = x[b, steps[b, i]], or zeros if this step is -1.
// Backward: dx[b, steps[b, i]] += dy[b, i].
template <class T>
Var<T> select_steps(const char* operation, const Var<T>& x, const Indices& steps) {
  const Index batch = steps.shape()[0], count = steps.shape()[1];
  const Index time = x.shape()[1], size = x.shape()[2];
  const Index cost = size_product(operation, std::max(count, time), size);
  Tensor<T> y = x.tape().uninitialized({batch, count, size});
  parallel_for(batch, grain_of(cost), [&](Index begin, Index end) {
    for (Index row = begin * count; row < end * count; ++row) {
      const Index step = steps.data()[row], from = (row / count * time + step) * size;
      auto to = array(y, row * size, (row + 1) * size);
      if (step < 0)
        to = T{0};
      else
        to = array(x.value(), from, from + size);
    }
  });
  return x.tape().record(
      operation, y, {x.node()},
      [x = x.node(), steps, batch, count, time, size, cost](Tape<T>& backward,
                                                            const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        // Parallel over sequences, because a step may be selected several times.
        parallel_for(batch, grain_of(cost), [&](Index begin, Index end) {
          if (dx.fresh) array(dx.data(), begin * time * size, end * time * size) = T{0};
          for (Index row = begin * count; row < end * count; ++row) {
            const Index step = steps.data()[row], to = (row / count * time + step) * size;
            if (step >= 0)
              array(dx.data(), to, to + size) += array(dy, row * size, (row + 1) * size);
          }
        });
      });
}

}  // namespace

ValidLens count_steps(const Tensor<bool>& mask) {
  if (mask.rank() != 2) fail<ShapeError>("count_steps: mask", "shape [batch, time]", mask.shape());
  const Index batch = mask.shape()[0], time = mask.shape()[1];
  if (time > std::numeric_limits<std::int32_t>::max())
    fail<ShapeError>("count_steps: mask", "fewer than 2^31 steps", mask.shape());
  Tensor<std::int32_t> counts({batch});
  for (Index b = 0; b < batch; ++b)
    counts.data()[b] = static_cast<std::int32_t>(
        std::count(mask.data() + b * time, mask.data() + (b + 1) * time, true));
  return ValidLens(counts);
}

template <class T>
Var<T> pack_steps(const Var<T>& x, const Tensor<bool>& mask) {
  check_batch("pack_steps", x.shape(), mask.shape(), true);
  const Index batch = mask.shape()[0], time = mask.shape()[1], count = most_steps(mask);
  Indices steps({batch, count});
  for (Index b = 0; b < batch; ++b) {
    std::int32_t* next = steps.data() + b * count;
    for (Index t = 0; t < time; ++t)
      if (mask.data()[b * time + t]) *next++ = static_cast<std::int32_t>(t);
    std::fill(next, steps.data() + (b + 1) * count, -1);
  }
  return select_steps("pack_steps", x, steps);
}

template <class T>
Var<T> unpack_steps(const Var<T>& states, const Tensor<bool>& mask) {
  check_batch("unpack_steps", states.shape(), mask.shape(), false);
  if (most_steps(mask) > states.shape()[1])
    fail<ShapeError>("unpack_steps: states", str_cat("at least ", most_steps(mask), " steps"),
                     states.shape());
  const Index batch = mask.shape()[0], time = mask.shape()[1];
  Indices steps({batch, time});
  for (Index b = 0; b < batch; ++b) {
    std::int32_t step = -1;
    for (Index i = b * time; i < (b + 1) * time; ++i)
      steps.data()[i] = step += mask.data()[i] ? 1 : 0;
  }
  return select_steps("unpack_steps", states, steps);
}

template Var<float> pack_steps(const Var<float>&, const Tensor<bool>&);
template Var<double> pack_steps(const Var<double>&, const Tensor<bool>&);
template Var<float> unpack_steps(const Var<float>&, const Tensor<bool>&);
template Var<double> unpack_steps(const Var<double>&, const Tensor<bool>&);

}  // namespace weft
