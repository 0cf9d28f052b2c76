#include "layers/unseen_keys.hpp"

#include "autograd/keep_rows.hpp"
#include "autograd/kernels.hpp"

namespace weft {

template <class T>
Var<T> without_unseen(const Var<T>& x, const MaskView& mask) {
  const Index batch = x.shape()[0], keys = x.shape()[1], channels = x.shape()[2];
  bool finite = true;
  for (Index b = 0; b < batch; ++b)
    for (Index key = 0; key < keys; ++key)
      if (!mask.seen_by_any(b, key)) {
        const Index begin = (b * keys + key) * channels;
        const auto row = array(x.value(), begin, begin + channels);
        // x - x is 0 for a finite x and NaN otherwise.
        finite &= (row - row).sum() == T{0};
      }
  if (finite) return x;

  Tensor<bool> seen({batch, keys});
  for (Index b = 0; b < batch; ++b)
    for (Index key = 0; key < keys; ++key) seen(b, key) = mask.seen_by_any(b, key);
  return keep_rows(x, seen);
}

template Var<float> without_unseen(const Var<float>&, const MaskView&);
template Var<double> without_unseen(const Var<double>&, const MaskView&);

}  // namespace weft
