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

// Infinity, not NaN: after masking, the softmax of a row with an infinity is NaN, and the scores of
// masked keys contain no NaN for TapeOptions::detect_anomaly to report.
template <class T>
Var<T> FiniteKeys<T>::mark(const Var<T>& scores) const {
  if (marks.empty()) return scores;
  const Shape& rows = marks.shape();
  Tensor<T> terms = marks.reshaped({rows[0], 1, 1, rows[1]});
  for (T& term : terms)
    if (term != T{0}) term = std::numeric_limits<T>::infinity();
  return scores + scores.tape().constant(std::move(terms));
}

namespace {

// Returns x [batch, time, channels] with zeros in place of the rows that are neither `visible`
// [batch, time] nor finite.
template <class T>
Var<T> without_hidden(const Var<T>& x, const Tensor<bool>& visible) {
  const Index rows = visible.size();
  bool is_clean = true;
  for (Index row = 0; row < rows && is_clean; ++row)
    is_clean = visible.data()[row] || row_is_finite(x.value(), row);
  return is_clean ? x : where(visible.reshaped({x.shape()[0], x.shape()[1], 1}), x, 0.0);
}

}  // namespace

template <class T>
Var<T> HiddenKeys::zeroed(const Var<T>& x) const {
  if (!mask_.shows_all_below_limit())
    return is_finite(x.value()) ? x : without_hidden(x, mask_.visible_keys());
  const Index batch = x.shape()[0], keys = x.shape()[1], channels = x.shape()[2];
  const T* values = x.value().data();
  std::atomic<bool> finite{true};
  parallel_for(batch * keys, grain_of(channels), [&](Index begin, Index end) {
    for (Index sequence = begin / keys * keys; sequence < end; sequence += keys) {
      const Index first = std::max(begin, sequence + mask_.largest_limit(sequence / keys));
      const Index last = std::min(end, sequence + keys);
      if (first < last && !all_finite(values + first * channels, (last - first) * channels))
        finite = false;
    }
  });
  return finite ? x : without_hidden(x, mask_.visible_keys());
}

template <class T>
Var<T> visible_queries(const MaskView& mask, const Var<T>& queries, const Var<T>& keys) {
  const bool is_self =
      queries.value().data() == keys.value().data() && queries.shape() == keys.shape();
  const Var<T> x = is_self ? HiddenKeys(mask).zeroed(queries) : queries;
  if (!mask.may_hide_queries() || is_finite(x.value())) return x;
  return without_hidden(x, mask.visible_queries());
}

template Var<float> HiddenKeys::zeroed(const Var<float>&) const;
template Var<double> HiddenKeys::zeroed(const Var<double>&) const;

template Var<float> visible_queries(const MaskView&, const Var<float>&, const Var<float>&);
template Var<double> visible_queries(const MaskView&, const Var<double>&, const Var<double>&);

template struct FiniteKeys<float>;
template struct FiniteKeys<double>;
template FiniteKeys<float> finite_keys(const Var<float>&, const Var<float>&);
template FiniteKeys<double> finite_keys(const Var<double>&, const Var<double>&);

}  // namespace weft
