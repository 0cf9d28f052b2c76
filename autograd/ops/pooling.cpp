#include "weft/autograd/ops/pooling.hpp"

#include <algorithm>
#include <limits>

#include "autograd/kernels/arrays.hpp"

namespace weft {
namespace {

// The positions first, first + step, … before end.
struct Positions {
  Index first, step, end;

  Index count() const { return (end - 1 - first) / step + 1; }
};

// The windows over sequences [batch, time, channels].
struct Windows {
  const char* operation;
  Index batch, time, channels, span, dilation, stride, before, count, cost;

  template <class T>
  Windows(const char* name, const Var<T>& x, const UnfoldOptions& options) : operation(name) {
    check_unfold(operation, options);
    if (x.rank() != 3) fail<ShapeError>(operation, "shape [batch, time, channels]", x.shape());
    batch = x.shape()[0], time = x.shape()[1], channels = x.shape()[2];
    if (time > std::numeric_limits<std::int32_t>::max())
      fail<ShapeError>(operation, "fewer than 2^31 positions", x.shape());
    span = options.span(), stride = options.stride, before = options.before;
    dilation = options.size == 1 ? 1 : options.dilation;  // otherwise at most `span`
    const Index padded = time + before + options.after;
    if (padded < span)
      fail<ShapeError>(operation, str_cat("at least ", span, " positions with padding"),
                       str_cat(padded, " for an input of shape ", x.shape()));
    count = (padded - span) / stride + 1;
    cost = size_product(operation, std::min(options.size, time), channels);
    // These two have the most padding.
    (void)positions_in(0);
    (void)positions_in(count - 1);
  }

  // Returns the positions of the sequence in a window.
  Positions positions_in(Index window) const {
    const Index start = window * stride - before;
    const Index skipped = start < 0 ? (-start + dilation - 1) / dilation : 0;
    const Positions positions{start + skipped * dilation, dilation, std::min(time, start + span)};
    if (positions.first >= positions.end)
      fail<ValueError>(operation, "windows that contain positions of the sequence",
                       str_cat("only padding in window ", window));
    return positions;
  }

  // Calls body(b, window, to) in parallel, where the result's elements begin at `to`.
  template <class Body>
  void for_each(const Body& body) const {
    parallel_for(batch * count, grain_of(cost), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) body(row / count, row % count, row * channels);
    });
  }

  // Sets or adds dx = Σ body(position, window, from) over the windows that contain each position,
  // where the result's elements begin at `from`. Parallel over positions, so that no two threads
  // write the same element.
  template <class T, class Body>
  void add_gradient(const Gradient<T>& dx, const Body& body) const {
    parallel_for(batch * time, grain_of(cost), [&](Index begin, Index end) {
      for (Index row = begin; row < end; ++row) {
        auto sum = array(dx.data(), row * channels, (row + 1) * channels);
        if (dx.fresh) sum = T{0};
        const Index position = row % time, last = position + before;  // the last possible start
        const Index first = last < span ? 0 : (last - span) / stride + 1;
        for (Index window = first; window < count && window * stride <= last; ++window)
          if ((last - window * stride) % dilation == 0)
            sum += body(position, window, (row / time * count + window) * channels);
      }
    });
  }
};

}  // namespace

// Forward:  y[w] = max_j x[w stride + j dilation - before].
// Backward: dx[i] = Σ dy[w] over the windows w whose maximum is at i first. Keeps these positions.
template <class T>
Var<T> max_pool(const Var<T>& x, const UnfoldOptions& options) {
  const Windows windows("max_pool", x, options);
  const Index channels = windows.channels;
  Tensor<T> y = x.tape().uninitialized({windows.batch, windows.count, channels});
  auto best = x.tape().template uninitialized<std::int32_t>(y.shape());
  T* const to_y = y.data();
  std::int32_t* const to_best = best.data();
  windows.for_each([&](Index b, Index window, Index to) {
    const auto [first, step, end] = windows.positions_in(window);
    for (Index position = first; position < end; position += step) {
      const T* const from = x.value().data() + (b * windows.time + position) * channels;
      T* const maximum = to_y + to;
      for (Index c = 0; c < channels; ++c)
        if (position == first || (maximum[c] == maximum[c] && !(from[c] <= maximum[c]))) {
          maximum[c] = from[c];
          to_best[to + c] = static_cast<std::int32_t>(position);
        }
    }
  });
  return x.tape().record(
      "max_pool", y, {x.node()},
      [x = x.node(), windows, best, channels](Tape<T>& backward, const Tensor<T>& dy) {
        windows.add_gradient(backward.gradient(x), [&](Index position, Index, Index from) {
          return (array(best, from, from + channels) == static_cast<std::int32_t>(position))
              .select(array(dy, from, from + channels), T{0});
        });
      });
}

// Forward:  y[w] = 1 / n_w Σ_j x[w stride + j dilation - before].
// Backward: dx[i] = Σ dy[w] / n_w over the windows w that contain i.
template <class T>
Var<T> average_pool(const Var<T>& x, const UnfoldOptions& options) {
  const Windows windows("average_pool", x, options);
  const Index channels = windows.channels;
  Tensor<T> y = x.tape().uninitialized({windows.batch, windows.count, channels});
  windows.for_each([&](Index b, Index window, Index to) {
    const Positions positions = windows.positions_in(window);
    auto mean = array(y, to, to + channels);
    mean = T{0};
    for (Index position = positions.first; position < positions.end; position += positions.step) {
      const Index from = (b * windows.time + position) * channels;
      mean += array(x.value(), from, from + channels);
    }
    mean /= static_cast<T>(positions.count());
  });
  return x.tape().record("average_pool", y, {x.node()},
                         [x = x.node(), windows, channels](Tape<T>& backward, const Tensor<T>& dy) {
                           windows.add_gradient(
                               backward.gradient(x), [&](Index, Index window, Index from) {
                                 return array(dy, from, from + channels) /
                                        static_cast<T>(windows.positions_in(window).count());
                               });
                         });
}

template Var<float> max_pool(const Var<float>&, const UnfoldOptions&);
template Var<double> max_pool(const Var<double>&, const UnfoldOptions&);
template Var<float> average_pool(const Var<float>&, const UnfoldOptions&);
template Var<double> average_pool(const Var<double>&, const UnfoldOptions&);

}  // namespace weft
