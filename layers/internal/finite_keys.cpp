#include "layers/internal/finite_keys.hpp"

#include <algorithm>
#include <limits>

#include "weft/autograd/finite.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/mask_rows.hpp"
#include "weft/autograd/parallel.hpp"

namespace weft {
namespace {

template <class T>
bool row_is_finite(const Tensor<T>& x, Index row) {
  return all_finite(x.data() + row * x.shape().columns(), x.shape().columns());
}

}  // namespace

template <class T>
FiniteKeys<T>::FiniteKeys(const Var<T>& keys, const Var<T>& values)
    : finite_({keys.shape()[0], keys.shape()[1]}) {
  const Index channels = keys.shape().columns() + values.shape().columns();
  bool* finite = finite_.data();
  parallel_for(finite_.size(), grain_of(channels), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row)
      finite[row] = row_is_finite(keys.value(), row) && row_is_finite(values.value(), row);
  });
  all_finite_ = std::find(finite, finite + finite_.size(), false) == finite + finite_.size();
}

template <class T>
Var<T> FiniteKeys<T>::clean(const Var<T>& x) const {
  return all_finite_ ? x : mask_rows(x, finite_);
}

template <class T>
Var<T> FiniteKeys<T>::mark(const Var<T>& scores) const {
  if (all_finite_) return scores;
  Tensor<T> marks({finite_.shape()[0], 1, 1, finite_.shape()[1]});
  std::transform(finite_.begin(), finite_.end(), marks.begin(),
                 [](bool finite) { return finite ? T{0} : std::numeric_limits<T>::quiet_NaN(); });
  return scores + scores.tape().constant(marks);
}

template class FiniteKeys<float>;
template class FiniteKeys<double>;

}  // namespace weft
