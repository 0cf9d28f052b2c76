// cached_attention: attention to the keys and values of a cache.
// Included by definitions only.
#pragma once

#include <cmath>
#include <optional>

#include "weft/autograd/tape.hpp"
#include "weft/layers/attention_pooling.hpp"
#include "weft/layers/key_value_cache.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/softmax_rows.hpp"
#include "layers/internal/checks.hpp"

namespace weft {

enum class CachedKeys {
  // Query t sees the positions of its sequence and the first t + 1 newly stored positions.
  stored,
  // Each query sees the positions of its sequence.
  all
};

namespace detail {

// Up to this number of queries of a sequence, each query is computed separately.
inline constexpr Index few_queries = 8;
// Round up the number of keys, or of elements of a vector, to the units that products of a few
// rows compute at once. The cache has memory for the additional ones, filled with zeros where they
// matter.
constexpr Index whole_keys(Index keys) { return (keys + 7) / 8 * 8; }
constexpr Index whole_vectors(Index elements) { return (elements + 15) / 16 * 16; }

template <class T>
struct CachedAttention {
  const KeyValueCache<T>& cache;
  Index layer;
  CachedKeys keys;
  Index queries, heads, group;  // `group` query heads share one key and value head
  std::optional<Index> window;  // the number of last keys that a query sees
  bool scaled;                  // whether scores are divided by √d
  Tensor<T> position_bias;      // [heads, queries + max_visible() - 1], or no elements

  Index size() const { return cache.options().head_size; }
  Index kv_heads() const { return cache.options().num_heads; }
  // The number of keys that a query sees without a window.
  Index visible(Index sequence, Index query) const {
    return cache.length(sequence) + (keys == CachedKeys::stored ? query + 1 : 0);
  }
  // The first key in the window of a query.
  Index first(Index sequence, Index query) const {
    return window ? std::max<Index>(0, visible(sequence, query) - *window) : 0;
  }
  // The position bias of key 0 for a query and a head; null without a position bias.
  const T* bias(Index sequence, Index query, Index head) const {
    if (position_bias.empty()) return nullptr;
    return position_bias.data() + head * position_bias.shape()[1] + max_visible() -
           visible(sequence, query);
  }
  Index max_visible() const {
    return cache.largest_length() + (keys == CachedKeys::stored ? queries : 0);
  }
};

// Computes softmax(q Kᵀ / √d + bias) V for the heads of one query that share keys and values.
// `scratch` holds `group` queries of key_stride() elements and `group` rows of `stride` scores.
template <class T>
void attend(const CachedAttention<T>& a, Index sequence, Index head, Index query, const T* q, T* y,
            T* scratch, Index stride) {
  const Index n = a.visible(sequence, query), first = a.first(sequence, query);
  const Index size = a.size(), key_stride = a.cache.key_stride();
  T* const scores = scratch + a.group * key_stride;
  if (size != key_stride) {
    for (Index i = 0; i < a.group; ++i) {
      T* const end = std::copy_n(q + i * size, size, scratch + i * key_stride);
      std::fill(end, scratch + (i + 1) * key_stride, T{0});
    }
    q = scratch;
  }
  const T scale = a.scaled ? T{1} / std::sqrt(static_cast<T>(size)) : T{1};
  matrix_product(Precision::full, a.group, whole_keys(n), key_stride, scale, {q, key_stride},
                 {a.cache.keys(a.layer, sequence, head), key_stride, true}, T{0}, scores, stride);
  // Later positions than the query's may already be stored.
  const Index terms = a.queries == 1 ? whole_vectors(n) : n;
  for (Index i = 0; i < a.group; ++i) {
    T* row = scores + i * stride;
    if (const T* const bias = a.bias(sequence, query, head * a.group + i))
      accumulate_row(n, row, false, identity, bias);
    normalize_row(row + first, n - first, exponentiate_row(row + first, row + first, n - first));
    std::fill(row, row + first, T{0});
    std::fill(row + n, row + terms, T{0});
  }
  matrix_product(Precision::full, a.group, size, terms, T{1}, {scores, stride},
                 {a.cache.values(a.layer, sequence, head), a.cache.value_stride(sequence), true},
                 T{0}, y, size);
}

template <class T>
Var<T> attend_one_by_one(const CachedAttention<T>& a, const Var<T>& queries) {
  Tape<T>& tape = queries.tape();
  Tensor<T> result = tape.uninitialized(queries.shape());
  const Index stride = a.cache.max_capacity();  // unlike the lengths, changes rarely
  const Index scratch_size = a.group * (a.cache.key_stride() + stride);
  Tensor<T> scratch = tape.uninitialized({thread_count(), scratch_size});
  const Index channels = a.heads * a.size();
  const T* q = queries.value().data();
  T *y = result.data(), *of_threads = scratch.data();
  const Index cost = a.queries * a.group * a.max_visible() * (2 * a.size() + 8);
  parallel_for(a.cache.num_sequences() * a.kv_heads(), grain_of(cost),
               [&](Index begin, Index end, int thread) {
                 for (Index item = begin; item < end; ++item)
                   for (Index query = 0; query < a.queries; ++query) {
                     const Index sequence = item / a.kv_heads(), head = item % a.kv_heads();
                     const Index at =
                         (sequence * a.queries + query) * channels + head * a.group * a.size();
                     attend(a, sequence, head, query, q + at, y + at,
                            of_threads + thread * scratch_size, stride);
                   }
               });
  tape.count_products(a.queries, a.max_visible(), 2 * a.size(), a.cache.num_sequences() * a.heads);
  return tape.record("cached_attention", std::move(result), std::span<const NodeId>(),
                     [](Tape<T>&, const Tensor<T>&) {});
}

// The number of positions by which a sequence is shorter than the longest. Gathered sequences are
// padded at the start by this number, so that they end together: masks and position biases count
// positions from the end.
template <class T>
Index padding(const CachedAttention<T>& a, Index sequence) {
  return a.max_visible() - a.visible(sequence, a.queries - 1);
}

// Returns the keys or the values of all sequences, [num_sequences, max_visible, heads · size], with
// zeros before a shorter sequence. Each head is repeated for the query heads that share it.
template <class T>
Var<T> gathered(const CachedAttention<T>& a, Tape<T>& tape, bool values) {
  const Index n = a.max_visible(), size = a.size();
  Tensor<T> result = tape.zeros({a.cache.num_sequences(), n, a.heads * size});
  T* to = result.data();
  parallel_for(a.cache.num_sequences() * a.heads, grain_of(n * size), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item) {
      const Index sequence = item / a.heads, head = item % a.heads;
      const T* from = values ? a.cache.values(a.layer, sequence, head / a.group)
                             : a.cache.keys(a.layer, sequence, head / a.group);
      const Index stride = values ? a.cache.value_stride(sequence) : a.cache.key_stride();
      const Index base = sequence * n + padding(a, sequence);
      for (Index t = 0; t < a.visible(sequence, a.queries - 1); ++t)
        for (Index c = 0; c < size; ++c)
          to[((base + t) * a.heads + head) * size + c] =
              values ? from[c * stride + t] : from[t * stride + c];
    }
  });
  return tape.constant(std::move(result));
}

template <class T>
Mask mask_of(const CachedAttention<T>& a) {
  Mask mask{.causal = a.keys == CachedKeys::stored, .window = a.window};
  const Index sequences = a.cache.num_sequences(), keys = a.max_visible();
  bool is_padded = false;
  for (Index i = 0; i < sequences; ++i) is_padded = is_padded || padding(a, i) > 0;
  if (!is_padded) return mask;
  mask.keys = Tensor<bool>({sequences, keys});
  for (Index i = 0; i < sequences; ++i)
    std::fill(mask.keys.data() + i * keys + padding(a, i), mask.keys.data() + (i + 1) * keys, true);
  return mask;
}

}  // namespace detail

// Returns the result of `attention` for queries [num_sequences, time, num_heads · d] of the cache's
// sequences. Each key and value head is shared by the same number of adjacent query heads.
template <class T>
Var<T> cached_attention(const AttentionPooling<T>& attention, const Var<T>& queries,
                        const CachedLayer<T>& layer, CachedKeys keys,
                        std::optional<Index> window = {},
                        const std::optional<Var<T>>& position_bias = {}) {
  // The keys and values of a cache are not on the tape: gradients would be lost.
  if (queries.tape().recording())
    throw Error("KeyValueCache: expected an inference tape, got a recording tape");
  const KeyValueCache<T>& cache = layer.cache;
  const Index heads = attention.num_heads, kv_heads = cache.options().num_heads;
  check_sequences("cached_attention: queries", queries.shape(), heads * cache.options().head_size);
  if (heads % kv_heads != 0 || queries.shape()[0] != cache.num_sequences())
    fail<ShapeError>("cached_attention",
                     str_cat("queries of ", cache.num_sequences(),
                             " sequences, and a number of heads divisible by ", kv_heads),
                     str_cat(queries.shape(), " and ", heads, " heads"));
  const detail::CachedAttention<T> a{
      .cache = cache,
      .layer = layer.index,
      .keys = keys,
      .queries = queries.shape()[1],
      .heads = heads,
      .group = heads / kv_heads,
      .window = window,
      .scaled = attention.scoring() == Scoring::scaled_dot_product,
      .position_bias = position_bias ? position_bias->value() : Tensor<T>()};
  if (const Shape expected{heads, std::max<Index>(0, a.queries + a.max_visible() - 1)};
      position_bias && position_bias->shape() != expected)
    fail<ShapeError>("cached_attention: position_bias", expected, position_bias->shape());
  if (attention.has_dot_products() && a.queries <= detail::few_queries)
    return detail::attend_one_by_one(a, queries);
  Tape<T>& tape = queries.tape();
  return attention(queries, detail::gathered(a, tape, false), detail::gathered(a, tape, true),
                   detail::mask_of(a), position_bias);
}

}  // namespace weft
