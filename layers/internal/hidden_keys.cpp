#include "layers/internal/hidden_keys.hpp"

#include "weft/autograd/finite.hpp"
#include "weft/autograd/ops/mask_rows.hpp"

namespace weft {

template <class T>
Var<T> zero_hidden_keys(const Var<T>& x, const MaskView& mask) {
  const Index batch = x.shape()[0], keys = x.shape()[1], channels = x.shape()[2];
  bool finite = true;
  for (Index b = 0; b < batch; ++b)
    for (Index key = 0; key < keys; ++key)
      if (!mask.visible_to_any(b, key))
        finite &= all_finite(x.value().data() + (b * keys + key) * channels, channels);
  if (finite) return x;

  Tensor<bool> visible({batch, keys});
  for (Index b = 0; b < batch; ++b)
    for (Index key = 0; key < keys; ++key) visible(b, key) = mask.visible_to_any(b, key);
  return mask_rows(x, visible);
}

template Var<float> zero_hidden_keys(const Var<float>&, const MaskView&);
template Var<double> zero_hidden_keys(const Var<double>&, const MaskView&);

}  // namespace weft
