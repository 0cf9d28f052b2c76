// Attention and Head: shared by all ways of computing scaled dot-product attention.
// Included by definitions only.
#pragma once

#include <algorithm>

#include "weft/autograd/precision.hpp"
#include "weft/autograd/tensor.hpp"
#include "autograd/internal/saturating_product.hpp"
#include "autograd/kernels/dropout_mask.hpp"
#include "autograd/kernels/vector.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {

// The inputs of forward and backward, their sizes, and the mask.
template <class T>
struct Attention {
  Tensor<T> q, k, v;        // [B, Q, H · d], [B, K, H · d], [B, K, H · d_v]
  Tensor<T> marks;          // for keys that are not finite, see FiniteKeys
  Tensor<T> position_bias;  // [H, distances()], or no elements
  Index batch, heads, queries, keys, size, value_size;
  T scale;
  MaskView mask;
  DropoutMask dropout;
  bool use_dropout;
  Index tile_queries;  // queries per tile
  Index tile_keys;     // keys per tile, padded
  Precision precision;

  Index q_stride() const { return heads * size; }
  Index v_stride() const { return heads * value_size; }
  // The number of distances between a query and a key, starting with the last query and the first
  // key.
  Index distances() const { return std::max<Index>(0, queries + keys - 1); }
  // The number of elements of a tile of scores, whose row stride is tile_keys.
  Index tile_size() const { return std::min(tile_queries, queries) * tile_keys; }
  // The number of parts of (sequence, head) pairs in a range of parallel_for.
  Index grain(Index parts = 1) const {
    return grain_of(saturating_product({queries, keys, size + value_size + 16}) / (4 * parts));
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

  // Returns the largest limit of the queries [first, last).
  Index limit(Index first, Index last) const {
    Index limit = 0;
    for (Index query = first; query < last; ++query)
      limit = std::max(limit, a.mask.limit(b, query));
    return limit;
  }
  // Adds the marks and the position bias of the keys [begin, end) to their scores for a query.
  void add_terms(T* scores, Index query, Index begin, Index end) const {
    const auto add = [&](const T* terms) {
      accumulate_row(end - begin, scores, false, identity, terms + begin);
    };
    if (!a.marks.empty()) add(a.marks.data() + b * a.keys);
    if (!a.position_bias.empty())
      add(a.position_bias.data() + h * a.distances() + distance(query, 0));
  }
  // Returns the index of the distance between a query and a key.
  Index distance(Index query, Index key) const { return a.queries - 1 - query + key; }
  // Returns this head's part of the terms [B, H, distances()], or null if there are no terms.
  T* own_terms(Tensor<T>& terms) const {
    return terms.empty() ? nullptr : terms.data() + (b * a.heads + h) * a.distances();
  }
};

}  // namespace weft
