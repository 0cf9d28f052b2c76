#include "weft/autograd/ops/unfold.hpp"

#include "autograd/kernels/arrays.hpp"

namespace weft {

void check_unfold(const char* what, const UnfoldOptions& o) {
  if (o.size < 1 || o.dilation < 1 || o.stride < 1)
    fail<ValueError>(what, "size, dilation and stride ≥ 1",
                     str_cat(o.size, ", ", o.dilation, " and ", o.stride));
  if (o.before < 0 || o.after < 0)
    fail<ValueError>(what, "before and after ≥ 0", str_cat(o.before, " and ", o.after));
  size_sum(what, size_product(what, o.dilation, o.size - 1), 1);
  size_sum(what, o.before, o.after);
}

// Forward:  y[w, j] = x[w stride + j dilation - before], 0 outside the sequence.
// Backward: dx[i] = Σ dy[w, j] over all w, j with w stride + j dilation - before = i.
template <class T>
Var<T> unfold(const Var<T>& x, const UnfoldOptions& options, const ValidLens& valid_lens) {
  check_unfold("unfold", options);
  if (x.rank() != 3) fail<ShapeError>("unfold", "shape [batch, time, channels]", x.shape());
  const Index batch = x.shape()[0], time = x.shape()[1], channels = x.shape()[2];
  const Index padded = time + options.before + options.after;
  if (padded < options.span())
    fail<ShapeError>("unfold", str_cat("at least ", options.span(), " positions with padding"),
                     str_cat(padded, " for an input of shape ", x.shape()));
  valid_lens.check("unfold", batch, 1, time);
  const Index count = (padded - options.span()) / options.stride + 1;
  const Index width = size_product("unfold", options.size, channels);

  Tensor<T> y = x.tape().uninitialized({batch, count, width});
  parallel_for(batch * count, grain_of(width), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Index b = row / count, first = row % count * options.stride - options.before;
      const Index length = valid_lens.length(b, 0, time);
      for (Index j = 0; j < options.size; ++j) {
        const Index i = first + j * options.dilation, from = (b * time + i) * channels;
        auto to = array(y, row * width + j * channels, row * width + (j + 1) * channels);
        if (i < 0 || i >= length)
          to = T{0};
        else
          to = array(x.value(), from, from + channels);
      }
    }
  });
  return x.tape().record(
      "unfold", y, {x.node()},
      [x = x.node(), options, valid_lens, batch, time, channels, count, width](
          Tape<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        // Parallel over positions of x, so that no two threads write the same element.
        parallel_for(batch * time, grain_of(width), [&](Index begin, Index end) {
          for (Index position = begin; position < end; ++position) {
            auto sum = array(dx.data(), position * channels, (position + 1) * channels);
            if (dx.fresh) sum = T{0};
            const Index b = position / time, i = position % time;
            if (i >= valid_lens.length(b, 0, time)) continue;
            for (Index j = 0; j < options.size; ++j) {
              const Index first = i + options.before - j * options.dilation;
              if (first < 0 || first % options.stride != 0 || first / options.stride >= count)
                continue;
              const Index from = (b * count + first / options.stride) * width + j * channels;
              sum += array(dy, from, from + channels);
            }
          }
        });
      });
}

template Var<float> unfold(const Var<float>&, const UnfoldOptions&, const ValidLens&);
template Var<double> unfold(const Var<double>&, const UnfoldOptions&, const ValidLens&);

}  // namespace weft
