// AttentionBlock: attention of a few queries to keys that fit into the L1 cache.
// Included by definitions only.
#pragma once

#include <algorithm>

#include "autograd/kernels/vector.hpp"

namespace weft {

// Some queries of one head, and its keys. Matrices with an element for each key and query have a
// row of `width` elements for each key. The elements of a row are the lanes of a vector, so maxima
// and sums over the keys are computed for whole vectors. Lanes without a query contain values that
// are never used.
template <class T>
struct AttentionBlock {
  static constexpr Index min_width = 4, max_width = std::max(lanes<T>, min_width);

  Index queries, keys;  // 1 ≤ queries ≤ max_width
  Index size, value_size;
  const T *q, *k, *v;  // rows of `size`, `size` and `value_size` elements
  Index q_stride, k_stride, v_stride;
  Index y_stride;  // row stride of y and dy
  T scale;
  const T* bias;     // added to the scores, [keys, width]; -infinity where a key is masked
  const T* dropout;  // the factors of the weights, [keys, width], or null

  static constexpr Index width_of(Index queries) {
    Index width = max_width;
    while (width / 2 >= std::max(queries, min_width)) width /= 2;
    return width;
  }
  Index width() const { return width_of(queries); }
  // The number of scratch elements that forward and backward need.
  static constexpr Index scratch_size(Index keys, Index size, Index value_size) {
    return (std::max(size, value_size) + keys) * max_width;
  }

  // Writes the weights, before dropout, to p [keys, width], and the result to y.
  void forward(T* p, T* y, T* scratch) const;
  // Adds to each of dq, dk and dv that is not null; `p` contains the weights from forward. dk and
  // dv have the strides of q and y. Adds the gradient of the score of query i and key k to element
  // k - i of dbias.
  void backward(const T* p, const T* dy, T* dq, T* dk, T* dv, T* dbias, T* scratch) const;

 private:
  const T* drop(const T* x, T* to) const;
};

extern template struct AttentionBlock<float>;
extern template struct AttentionBlock<double>;

}  // namespace weft
