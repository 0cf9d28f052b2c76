#include "weft/autograd/ops/shaping.hpp"

#include "autograd/internal/saturating_product.hpp"
#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

// Returns the product of the sizes of an axis and all later axes.
Index elements_from(const Shape& shape, Index axis) {
  Index product = 1;
  for (; axis < shape.rank(); ++axis) product *= shape[axis];
  return product;
}

// Returns the product of the sizes before an axis.
Index elements_before(const Shape& shape, Index axis) {
  Index product = 1;
  for (Index i = 0; i < axis; ++i) product *= shape[i];
  return product;
}

// The offset of the first run of a tensor, and the stride between runs.
struct Runs {
  Index first;
  Index stride;
};

// Writes or adds `count` runs of `length` elements.
template <class T>
void copy_runs(const Tensor<T>& from, Runs source, const Gradient<T>& to, Runs result, Index count,
               Index length) {
  parallel_for(count * length, grain_of(1), [&](Index begin, Index end) {
    for (Index run = begin / length, offset = begin % length; begin < end; ++run, offset = 0) {
      const Index copied = std::min(length - offset, end - begin);
      const Index at_source = source.first + run * source.stride + offset;
      const Index at_result = result.first + run * result.stride + offset;
      accumulate(to, at_result, at_result + copied, array(from, at_source, at_source + copied));
      begin += copied;
    }
  });
}

// Forward:  y = the tensors concatenated along `axis`.
// Backward: dx = the slice of dy for each tensor.
// Records one node per tensor, which adds its slice and passes dy on to the node before it, so that
// no list is kept.
template <class T>
Var<T> join(const char* operation, std::span<const Var<T>> tensors, const Shape& shape,
            Index axis) {
  Tape<T>& tape = tensors.front().tape();
  Tensor<T> y = tape.uninitialized(shape);
  const Index count = elements_before(shape, axis);
  const Index stride = elements_from(shape, axis);
  Index first = 0;
  for (const Var<T>& x : tensors) {
    const Index length = elements_from(x.shape(), axis);
    copy_runs(x.value(), {0, length}, as_fresh_gradient(y), {first, stride}, count, length);
    first += length;
  }
  Var<T> result = tape.constant(y);
  first = 0;
  for (const Var<T>& x : tensors) {
    const Index length = elements_from(x.shape(), axis);
    result = tape.record(operation, y, {result.node(), x.node()},
                         [before = result.node(), x = x.node(), first, stride, count, length](
                             Tape<T>& backward, const Tensor<T>& dy) {
                           backward.add_gradient(before, dy);
                           if (const Gradient<T> dx = backward.gradient(x))
                             copy_runs(dy, {first, stride}, dx, {0, length}, count, length);
                         });
    first += length;
  }
  return result;
}

template <class T>
void check_list(const char* operation, std::span<const Var<T>> tensors) {
  if (tensors.empty()) fail<ShapeError>(operation, "at least one tensor", "an empty list");
  for (const Var<T>& x : tensors) tape_of(operation, tensors.front(), x);
}

// Forward:  y = x with another shape.
// Backward: dx = dy with x's shape.
template <class T>
Var<T> record_reshape(const Var<T>& x, Tensor<T> y) {
  return x.tape().record(
      "reshape", std::move(y), {x.node()},
      [x = x.node()](Tape<T>& backward, const Tensor<T>& dy) { backward.add_gradient(x, dy); });
}

}  // namespace

template <class T>
Var<T> reshape(const Var<T>& x, std::initializer_list<Index> sizes) {
  return record_reshape(x, x.value().reshaped(sizes));
}

template <class T>
Var<T> reshape(const Var<T>& x, const Shape& shape) {
  return record_reshape(x, x.value().reshaped(shape));
}

// Forward:  y = x[…, begin:end, …].
// Backward: dx = dy in the slice, 0 elsewhere.
template <class T>
Var<T> slice(const Var<T>& x, Index axis, Index begin, Index end) {
  axis = x.shape().normalized(axis, "slice");
  const Index size = x.shape()[axis];
  if (begin < 0 || begin > end || end > size)
    fail<ShapeError>("slice",
                     str_cat("0 ≤ begin ≤ end ≤ ", size, " on axis ", axis, " of ", x.shape()),
                     str_cat("begin ", begin, " and end ", end));
  Tensor<T> y = x.tape().uninitialized(x.shape().with(axis, end - begin));
  const Index inner = elements_from(x.shape(), axis + 1);
  const Index count = elements_before(x.shape(), axis);
  const Index length = (end - begin) * inner;
  const Runs runs{begin * inner, size * inner};
  copy_runs(x.value(), runs, as_fresh_gradient(y), {0, length}, count, length);
  return x.tape().record(
      "slice", y, {x.node()},
      [x = x.node(), runs, count, length](Tape<T>& backward, const Tensor<T>& dy) {
        copy_runs(dy, {0, length}, backward.gradient(x).zero_if_fresh(), runs, count, length);
      });
}

template <class T>
std::vector<Var<T>> split(const Var<T>& x, Index axis, Index size) {
  if (size <= 0) fail<ValueError>("split", "a size > 0", size);
  const Index end = x.shape()[x.shape().normalized(axis, "split")];
  std::vector<Var<T>> parts;
  for (Index first = 0; first < end; first += std::min(size, end - first))
    parts.push_back(slice(x, axis, first, first + std::min(size, end - first)));
  if (parts.empty()) parts.push_back(x);
  return parts;
}

template <class T>
std::vector<Var<T>> split(const Var<T>& x, Index axis, std::span<const Index> sizes) {
  axis = x.shape().normalized(axis, "split");
  Index total = 0;
  for (const Index size : sizes) {
    if (size < 0) fail<ShapeError>("split", "sizes of at least 0", size);
    total = size_sum("split", total, size);
  }
  if (total != x.shape()[axis])
    fail<ShapeError>("split",
                     str_cat("sizes that add up to the size of axis ", axis, " of ", x.shape()),
                     str_cat("a sum of ", total));
  std::vector<Var<T>> parts;
  Index first = 0;
  for (const Index size : sizes) {
    parts.push_back(slice(x, axis, first, first + size));
    first += size;
  }
  return parts;
}

template <class T>
Var<T> squeeze(const Var<T>& x, Index axis) {
  axis = x.shape().normalized(axis, "squeeze");
  if (x.shape()[axis] != 1)
    fail<ShapeError>("squeeze", "an axis of size 1", str_cat("axis ", axis, " of ", x.shape()));
  return reshape(x, x.shape().without(axis));
}

template <class T>
Var<T> unsqueeze(const Var<T>& x, Index axis) {
  return reshape(x, x.shape().inserted(axis, 1, "unsqueeze"));
}

// Forward:  y = x[…, i - before, …] inside x, the value elsewhere.
// Backward: dx = the slice of dy.
template <class T>
Var<T> pad(const Var<T>& x, Index axis, Index before, Index after, double value) {
  axis = x.shape().normalized(axis, "pad");
  if (before < 0 || after < 0)
    fail<ShapeError>("pad", "before and after ≥ 0", str_cat(before, " and ", after));
  const Index inner = elements_from(x.shape(), axis + 1);
  const Index count = elements_before(x.shape(), axis);
  const Index length = elements_from(x.shape(), axis);
  const Index size = size_sum("pad", size_sum("pad", before, x.shape()[axis]), after);
  Tensor<T> y = x.tape().uninitialized(x.shape().with(axis, size));
  parallel_for(y.size(), grain_of(1), [&](Index begin, Index end) {
    array(y, begin, end).setConstant(static_cast<T>(value));
  });
  const Runs runs{before * inner, size * inner};
  copy_runs(x.value(), {0, length}, as_fresh_gradient(y), runs, count, length);
  return x.tape().record(
      "pad", y, {x.node()},
      [x = x.node(), runs, count, length](Tape<T>& backward, const Tensor<T>& dy) {
        copy_runs(dy, runs, backward.gradient(x), {0, length}, count, length);
      });
}

template <class T>
Var<T> concatenate(std::span<const Var<T>> tensors, Index axis) {
  check_list("concatenate", tensors);
  const Shape& first = tensors.front().shape();
  axis = first.normalized(axis, "concatenate");
  Index size = 0;
  for (const Var<T>& x : tensors) {
    if (x.rank() != first.rank() || x.shape().with(axis, first[axis]) != first)
      fail<ShapeError>("concatenate", str_cat("shape ", first, " except on axis ", axis),
                       x.shape());
    size = size_sum("concatenate", size, x.shape()[axis]);
  }
  return join("concatenate", tensors, first.with(axis, size), axis);
}

template <class T>
Var<T> stack(std::span<const Var<T>> tensors, Index axis) {
  check_list("stack", tensors);
  const Shape& first = tensors.front().shape();
  const Shape shape = first.inserted(axis, std::ssize(tensors), "stack");
  for (const Var<T>& x : tensors)
    if (x.shape() != first)
      fail<ShapeError>("stack", str_cat("tensors of one shape, ", first), x.shape());
  return join("stack", tensors, shape, axis < 0 ? axis + shape.rank() : axis);
}

// Forward:  y = x with each position of the axis `times` times.
// Backward: dx = the sum of dy over the repetitions.
template <class T>
Var<T> repeat(const Var<T>& x, Index axis, Index times) {
  axis = x.shape().normalized(axis, "repeat");
  if (times < 0) fail<ValueError>("repeat", "times ≥ 0", times);
  const Index size = size_product("repeat", x.shape()[axis], times);
  Tensor<T> y = x.tape().uninitialized(x.shape().with(axis, size));
  const Index rows = elements_before(x.shape(), axis + 1);
  const Index inner = elements_from(x.shape(), axis + 1);
  const Index grain = grain_of(saturating_product({times, inner}));
  parallel_for(rows, grain, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row)
      for (Index copy = row * times; copy < (row + 1) * times; ++copy)
        array(y, copy * inner, (copy + 1) * inner) =
            array(x.value(), row * inner, (row + 1) * inner);
  });
  return x.tape().record(
      "repeat", y, {x.node()},
      [x = x.node(), rows, inner, times, grain](Tape<T>& backward, const Tensor<T>& dy) {
        Gradient<T> dx = backward.gradient(x);
        if (times == 0) dx.zero_if_fresh();
        parallel_for(rows, grain, [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            Gradient<T> dx_row = dx;
            for (Index copy = row * times; copy < (row + 1) * times; ++copy) {
              accumulate(dx_row, row * inner, (row + 1) * inner,
                         array(dy, copy * inner, (copy + 1) * inner));
              dx_row.fresh = false;
            }
          }
        });
      });
}

template Var<float> reshape(const Var<float>&, std::initializer_list<Index>);
template Var<double> reshape(const Var<double>&, std::initializer_list<Index>);
template Var<float> reshape(const Var<float>&, const Shape&);
template Var<double> reshape(const Var<double>&, const Shape&);
template Var<float> slice(const Var<float>&, Index, Index, Index);
template Var<double> slice(const Var<double>&, Index, Index, Index);
template std::vector<Var<float>> split(const Var<float>&, Index, Index);
template std::vector<Var<double>> split(const Var<double>&, Index, Index);
template std::vector<Var<float>> split(const Var<float>&, Index, std::span<const Index>);
template std::vector<Var<double>> split(const Var<double>&, Index, std::span<const Index>);
template Var<float> squeeze(const Var<float>&, Index);
template Var<double> squeeze(const Var<double>&, Index);
template Var<float> unsqueeze(const Var<float>&, Index);
template Var<double> unsqueeze(const Var<double>&, Index);
template Var<float> pad(const Var<float>&, Index, Index, Index, double);
template Var<double> pad(const Var<double>&, Index, Index, Index, double);
template Var<float> concatenate(std::span<const Var<float>>, Index);
template Var<double> concatenate(std::span<const Var<double>>, Index);
template Var<float> stack(std::span<const Var<float>>, Index);
template Var<double> stack(std::span<const Var<double>>, Index);
template Var<float> repeat(const Var<float>&, Index, Index);
template Var<double> repeat(const Var<double>&, Index, Index);

}  // namespace weft
