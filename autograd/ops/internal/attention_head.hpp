// Attention, Head and KeysAndValues: what the ways of computing scaled dot-product attention share.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "weft/autograd/finite.hpp"
#include "weft/autograd/precision.hpp"
#include "weft/autograd/tensor.hpp"
#include "autograd/internal/saturating_product.hpp"
#include "autograd/kernels/dropout_mask.hpp"
#include "autograd/kernels/matrix_view.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

// The most queries per tile: with key_tile keys, its scores stay in the L2 cache.
inline constexpr Index query_tile = 256;

// What forward and backward share: the inputs, their sizes, and the mask.
template <class T>
struct Attention {
  Tensor<T> q, k, v;  // [B, Q, H · d], [B, K, H · d], [B, K, H · d_v]
  Index batch, heads, queries, keys, size, value_size;
  T scale;
  MaskView mask;
  DropoutMask dropout;
  bool use_dropout;
  // False when some key or value is NaN or infinite and the mask differs between queries.
  bool all_finite;
  Index tile_queries;  // queries per tile
  Index tile_keys;     // keys per tile, padded
  Precision precision;

  Index q_stride() const { return heads * size; }
  Index v_stride() const { return heads * value_size; }
  // Elements of a tile of scores, whose row stride is tile_keys.
  Index tile_size() const { return std::min(tile_queries, queries) * tile_keys; }
  // The number of (sequence, head) pairs in a range of parallel_for.
  Index grain() const {
    return grain_of(saturating_product({queries, keys, size + value_size + 16}) / 4);
  }
};

// One head of one sequence.
template <class T>
struct Head {
  const Attention<T>& a;
  Index b, h;

  Index q_offset(Index query) const { return (b * a.queries + query) * a.q_stride() + h * a.size; }
  Index k_offset(Index key) const { return (b * a.keys + key) * a.q_stride() + h * a.size; }
  Index v_offset(Index key) const { return (b * a.keys + key) * a.v_stride() + h * a.value_size; }
  Index out_offset(Index query) const {
    return (b * a.queries + query) * a.v_stride() + h * a.value_size;
  }
  // The index of a query's row in the weights [B, H, Q, K], and the offset of its first element.
  Index row(Index query) const { return (b * a.heads + h) * a.queries + query; }
  Index weight_offset(Index query) const { return row(query) * a.keys; }

  // The largest limit of the queries first … last.
  Index limit(Index first, Index last) const {
    Index limit = 0;
    for (Index query = first; query < last; ++query)
      limit = std::max(limit, a.mask.limit(b, query));
    return limit;
  }
};

// The keys and values of a head, packed contiguously if many queries read them. A key masked for
// only some queries has weight 0 for these, but 0 times NaN or infinity would reach the result: if
// not all are finite, the copy has zeros in the non-finite rows, and the queries that attend to
// these get NaN.
template <class T>
class KeysAndValues {
 public:
  KeysAndValues(const Head<T>& head, T* scratch) {
    const Attention<T>& a = head.a;
    k_ = a.k.data() + head.k_offset(0);
    v_ = a.v.data() + head.v_offset(0);
    k_stride_ = a.q_stride();
    v_stride_ = a.v_stride();
    if (!is_copy(a)) return;
    T* k_copy = scratch + a.keys;
    T* v_copy = k_copy + a.keys * a.size;
    if (!a.all_finite) non_finite_ = scratch;
    for (Index key = 0; key < a.keys; ++key) {
      const bool is_finite_row = a.all_finite || finite(a, key);
      if (non_finite_)
        non_finite_[key] = is_finite_row ? T{0} : std::numeric_limits<T>::quiet_NaN();
      copy_row(is_finite_row ? k_ + key * k_stride_ : nullptr, a.size, k_copy + key * a.size);
      copy_row(is_finite_row ? v_ + key * v_stride_ : nullptr, a.value_size,
               v_copy + key * a.value_size);
    }
    k_ = k_copy;
    v_ = v_copy;
    k_stride_ = a.size;
    v_stride_ = a.value_size;
  }

  // The number of elements of scratch for a head.
  static Index scratch_size(const Attention<T>& a) {
    return is_copy(a) ? a.keys * (1 + a.size + a.value_size) : 0;
  }

  MatrixView<T> k(bool transposed = false) const { return {k_, k_stride_, transposed}; }
  MatrixView<T> v(bool transposed = false) const { return {v_, v_stride_, transposed}; }
  // Sets the scores of non-finite keys among begin … end to NaN.
  void propagate_non_finite(T* scores, Index begin, Index end) const {
    if (non_finite_)
      for (Index key = begin; key < end; ++key) scores[key - begin] += non_finite_[key];
  }

 private:
  static bool is_copy(const Attention<T>& a) { return !a.all_finite || a.queries > query_tile; }

  // Copies a row, or writes zeros when `from` is null.
  static void copy_row(const T* from, Index size, T* to) {
    if (from)
      std::copy(from, from + size, to);
    else
      std::fill(to, to + size, T{0});
  }

  bool finite(const Attention<T>& a, Index key) const {
    return all_finite(k_ + key * k_stride_, a.size) &&
           all_finite(v_ + key * v_stride_, a.value_size);
  }

  const T* k_;
  const T* v_;
  Index k_stride_, v_stride_;
  T* non_finite_ = nullptr;
};

}  // namespace weft
