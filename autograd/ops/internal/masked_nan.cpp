#include "autograd/ops/internal/masked_nan.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "weft/autograd/finite.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/parallel.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {
namespace {

template <class T>
bool is_finite(const Tensor<T>& x) {
  std::atomic<bool> finite{true};
  parallel_for(x.size(), grain_of(1), [&](Index begin, Index end) {
    if (!all_finite(x.data() + begin, end - begin)) finite = false;
  });
  return finite;
}

template <class T>
bool row_is_finite(const Tensor<T>& x, Index row) {
  return all_finite(x.data() + row * x.shape().columns(), x.shape().columns());
}

}  // namespace

template <class T>
FiniteKeys<T> finite_keys(const Var<T>& keys, const Var<T>& values) {
  if (is_finite(keys.value()) && is_finite(values.value())) return {keys, values};
  const Shape rows{keys.shape()[0], keys.shape()[1]};
  Tensor<bool> finite({rows[0], rows[1], 1});
  Tensor<T> marks(rows);
  for (Index row = 0; row < rows.elements(); ++row) {
    finite.data()[row] = row_is_finite(keys.value(), row) && row_is_finite(values.value(), row);
    if (!finite.data()[row]) marks.data()[row] = std::numeric_limits<T>::quiet_NaN();
  }
  return {where(finite, keys, 0.0), where(finite, values, 0.0), marks};
}

template <class T>
Var<T> FiniteKeys<T>::mark(const Var<T>& scores) const {
  if (marks.empty()) return scores;
  const Shape& rows = marks.shape();
  return scores + scores.tape().constant(marks.reshaped({rows[0], 1, 1, rows[1]}));
}

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

  Tensor<bool> visible = Tensor<bool>::full({batch, keys, 1}, true);
  bool* kept = visible.data();
  for_each_hidden(0, batch * keys, keys,
                  [kept](Index first, Index last) { std::fill(kept + first, kept + last, false); });
  return where(visible, x, 0.0);
}

template Var<float> HiddenKeys::zeroed(const Var<float>&) const;
template Var<double> HiddenKeys::zeroed(const Var<double>&) const;

template struct FiniteKeys<float>;
template struct FiniteKeys<double>;
template FiniteKeys<float> finite_keys(const Var<float>&, const Var<float>&);
template FiniteKeys<double> finite_keys(const Var<double>&, const Var<double>&);

}  // namespace weft
