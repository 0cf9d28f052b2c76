#include "weft/layers/sequence_pooling.hpp"

#include <algorithm>
#include <limits>

#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/recurrence.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {
namespace {

// Returns a mask [batch, time, 1] that is true before the end of each sequence.
Tensor<bool> positions_of(const ValidLens& valid_lens, Index batch, Index time) {
  Tensor<bool> valid({batch, time, 1});
  for (Index b = 0; b < batch; ++b)
    std::fill_n(valid.data() + b * time, valid_lens.length(b, 0, time), true);
  return valid;
}

// Returns x [batch, size] with zeros for empty sequences.
template <class T>
Var<T> without_empty(const Var<T>& x, const ValidLens& valid_lens, Index time) {
  Tensor<bool> valid({x.shape()[0], 1});
  for (Index b = 0; b < valid.size(); ++b) valid.data()[b] = valid_lens.length(b, 0, time) > 0;
  return where(valid, x, 0.0);
}

template <class T>
Var<T> mean_of(const Var<T>& x, const ValidLens& valid_lens, Index batch, Index time) {
  Tensor<T> factors = x.tape().uninitialized({batch, 1});
  for (Index b = 0; b < batch; ++b)
    factors.data()[b] = T{1} / static_cast<T>(std::max<Index>(valid_lens.length(b, 0, time), 1));
  const Var<T> valid =
      valid_lens.given() ? where(positions_of(valid_lens, batch, time), x, 0.0) : x;
  return sum(valid, {1}) * x.tape().constant(factors);
}

template <class T>
Var<T> max_of(const Var<T>& x, const ValidLens& valid_lens, Index batch, Index time) {
  if (!valid_lens.given()) return max(x, {1});
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  const Var<T> valid = where(positions_of(valid_lens, batch, time), x, lowest);
  return without_empty(max(valid, {1}), valid_lens, time);
}

}  // namespace

template <class T>
SequencePooling<T>::SequencePooling(Pooling kind) : pooling(kind) {
  to_string(pooling);  // throws for a value that is not a Pooling
}

template <class T>
Var<T> SequencePooling<T>::operator()(const Var<T>& x, const ValidLens& valid_lens) const {
  if (x.rank() != 3) fail<ShapeError>("SequencePooling", "shape [batch, time, size]", x.shape());
  const Index batch = x.shape()[0], time = x.shape()[1], size = x.shape()[2];
  valid_lens.check("SequencePooling", batch, 1, time);
  const auto zeros = [&] { return x.tape().constant(x.tape().zeros({batch, size})); };
  if (time == 0) return zeros();
  switch (pooling) {
    case Pooling::mean:
      return mean_of(x, valid_lens, batch, time);
    case Pooling::max:
      return max_of(x, valid_lens, batch, time);
    case Pooling::first: {
      const Var<T> first = squeeze(slice(x, 1, 0, 1), 1);
      return valid_lens.given() ? without_empty(first, valid_lens, time) : first;
    }
    case Pooling::last:
      return last_states(x, zeros(), valid_lens);
  }
  fail<ValueError>("SequencePooling", "a value of Pooling", to_string(pooling));
}

template <class T>
void SequencePooling<T>::members(Members<T>& members) const {
  members.type("SequencePooling", to_string(pooling));
}

template struct SequencePooling<float>;
template struct SequencePooling<double>;

}  // namespace weft
