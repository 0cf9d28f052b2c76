#include "layers/internal/hidden_keys.hpp"

#include <atomic>

#include "weft/autograd/finite.hpp"
#include "weft/autograd/ops/mask_rows.hpp"
#include "weft/autograd/parallel.hpp"

namespace weft {

HiddenKeys::HiddenKeys(const MaskView& mask)
    : mask_(mask), visible_(mask.shows_all_below_limit() ? Tensor<bool>() : mask.visible_keys()) {}

template <class Body>
void HiddenKeys::for_each_hidden(Index begin, Index end, Index keys, const Body& body) const {
  if (!mask_.shows_all_below_limit()) {
    for (Index row = begin; row < end; ++row)
      if (!visible_.data()[row]) body(row, row + 1);
    return;
  }
  for (Index sequence = begin / keys * keys; sequence < end; sequence += keys) {
    const Index first = std::max(begin, sequence + mask_.largest_limit(sequence / keys));
    const Index last = std::min(end, sequence + keys);
    if (first < last) body(first, last);
  }
}

template <class T>
Var<T> HiddenKeys::zeroed(const Var<T>& x) const {
  const Index batch = x.shape()[0], keys = x.shape()[1], channels = x.shape()[2];
  const T* values = x.value().data();
  std::atomic<bool> finite{true};
  parallel_for(batch * keys, grain_of(channels), [&](Index begin, Index end) {
    for_each_hidden(begin, end, keys, [&](Index first, Index last) {
      if (!all_finite(values + first * channels, (last - first) * channels)) finite = false;
    });
  });
  if (finite) return x;

  Tensor<bool> visible = Tensor<bool>::full({batch, keys}, true);
  bool* kept = visible.data();
  for_each_hidden(0, batch * keys, keys,
                  [kept](Index first, Index last) { std::fill(kept + first, kept + last, false); });
  return mask_rows(x, visible);
}

template Var<float> HiddenKeys::zeroed(const Var<float>&) const;
template Var<double> HiddenKeys::zeroed(const Var<double>&) const;

}  // namespace weft
