#include "weft/layers/sequence_pooling.hpp"

#include <algorithm>
#include <limits>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/mask_rows.hpp"
#include "weft/autograd/ops/recurrence.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {
namespace {

// True for the positions before the end of each sequence, [batch, time].
Tensor<bool> positions_of(const ValidLens& valid_lens, Index batch, Index time) {
  Tensor<bool> valid({batch, time});
  for (Index b = 0; b < batch; ++b)
    std::fill_n(valid.data() + b * time, valid_lens.length(b, 0, time), true);
  return valid;
}

// True for the sequences that are not empty, [batch].
Tensor<bool> sequences_of(const ValidLens& valid_lens, Index batch, Index time) {
  Tensor<bool> valid({batch});
  for (Index b = 0; b < batch; ++b) valid(b) = valid_lens.length(b, 0, time) > 0;
  return valid;
}

template <class T>
Var<T> mean_of(const Var<T>& x, const ValidLens& valid_lens, Index batch, Index time) {
  Tensor<T> factors = x.pass().uninitialized({batch, 1});
  for (Index b = 0; b < batch; ++b)
    factors.data()[b] = T{1} / static_cast<T>(std::max<Index>(valid_lens.length(b, 0, time), 1));
  const Var<T> valid = valid_lens.given() ? mask_rows(x, positions_of(valid_lens, batch, time)) : x;
  return sum(valid, {1}) * x.tape().constant(factors);
}

template <class T>
Var<T> max_of(const Var<T>& x, const ValidLens& valid_lens, Index batch, Index time) {
  if (!valid_lens.given()) return max(x, {1});
  const Tensor<bool> valid = positions_of(valid_lens, batch, time);
  Tensor<T> lowest = x.pass().zeros({batch, time, 1});
  for (Index i = 0; i < valid.size(); ++i)
    if (!valid.data()[i]) lowest.data()[i] = -std::numeric_limits<T>::infinity();
  const Var<T> largest = max(mask_rows(x, valid) + x.tape().constant(lowest), {1});
  return mask_rows(largest, sequences_of(valid_lens, batch, time));
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
  const auto zeros = [&] { return x.tape().constant(x.pass().zeros({batch, size})); };
  if (time == 0) return zeros();
  switch (pooling) {
    case Pooling::mean:
      return mean_of(x, valid_lens, batch, time);
    case Pooling::max:
      return max_of(x, valid_lens, batch, time);
    case Pooling::first: {
      const Var<T> first = reshape(slice(x, 1, 0, 1), {batch, size});
      return valid_lens.given() ? mask_rows(first, sequences_of(valid_lens, batch, time)) : first;
    }
    case Pooling::last:
      return last_states(x, zeros(), valid_lens);
  }
  fail<ValueError>("SequencePooling", "a pooling", to_string(pooling));
}

template <class T>
void SequencePooling<T>::members(Members<T>& members) const {
  members.type("SequencePooling", to_string(pooling));
}

template struct SequencePooling<float>;
template struct SequencePooling<double>;

}  // namespace weft
