#include "weft/train/data/rows.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/tensor_batch.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {

template <class E>
TensorRows<E>::TensorRows(Tensor<E> rows) : rows_(std::move(rows)) {
  if (rows_.rank() == 0) fail<ShapeError>("rows", "shape [n, …]", rows_.shape());
}

template <class E>
Tensor<E> TensorRows<E>::read(Index first, Index last) const {
  return rows_of(rows_, first, last);
}

template <class E>
std::uint64_t TensorRows<E>::fingerprint() const {
  Fingerprint fingerprint;
  fingerprint.add(rows_);
  return fingerprint.value();
}

template class TensorRows<float>;
template class TensorRows<double>;
template class TensorRows<TokenId>;

}  // namespace weft
