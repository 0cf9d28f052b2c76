// Attention is computed in one of four ways. The first three differ only in rounding:
//
// - in blocks (internal/attention_in_blocks.hpp): up to 64 queries and keys. The lanes of a vector
//   are queries. The weights stay in the L1 cache and are kept for backward. Matrix products would
//   be too small to pay off.
// - in tiles (here): longer sequences. A tile of scores, computed by matrix products, stays in the
//   L2 cache, with an online softmax. Backward computes the scores again.
// - from a cache (layers/internal/cached_attention.hpp): up to 8 new queries, such as one generated
//   token, without gradients. Products of a few rows read the keys and values in place, in the
//   KeyValueCache. For more queries, the keys are gathered so that all sequences end together, and
//   attention is computed in blocks or tiles.
// - composed of operations (layers/attention_pooling.cpp): for scores other than dot products, such
//   as additive ones.
//
// A position bias has one number for each head and each distance between a query and a key. The
// biases of a query for all keys are therefore a contiguous range, which is added to its scores. No
// table of queries and keys is built, except by composed attention. The gradient of the bias is
// summed separately for each sequence and head, and then over the sequences in order.
//
// internal/masked_nan.hpp keeps masked NaN out of results and gradients, for all four ways.
#include "weft/autograd/ops/attention.hpp"

#include <array>
#include <cmath>

#include "autograd/internal/checks.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/softmax_rows.hpp"
#include "autograd/ops/internal/attention_head.hpp"
#include "autograd/ops/internal/attention_in_blocks.hpp"
#include "autograd/ops/internal/masked_nan.hpp"

namespace weft {
namespace {

// The number of keys per tile and the largest number of queries: the scores of a tile stay in the
// L2 cache.
constexpr Index key_tile = 128, query_tile = 256;
// Under a causal mask, smaller tiles compute fewer masked scores. In bf16, their products would be
// too small for the processor's instructions.
Index causal_query_tile(Precision precision) {
  return precision == Precision::bf16 && is_supported(precision) ? 128 : 32;
}
// Queries and keys per strip, see for_each_tile.
constexpr Index query_strip = 1024, key_strip = 512;
// Rows of scores are padded with -infinity to a multiple of this, so that they are whole vectors.
constexpr Index padding = 16;

constexpr Index padded(Index keys) { return (keys + padding - 1) / padding * padding; }

// The number of keys of a strip. A tile with all keys is also a strip.
template <class T>
Index strip_keys(const Attention<T>& a) {
  return std::max(key_strip, a.tile_keys);
}

// A strip of a head's keys and values, packed contiguously if many queries read them.
template <class T>
class KeysAndValues {
 public:
  KeysAndValues(const Head<T>& head, Index begin, Index end, T* scratch) : begin_(begin) {
    const Attention<T>& a = head.a;
    k_ = a.k.data() + head.k_offset(begin);
    v_ = a.v.data() + head.v_offset(begin);
    k_stride_ = a.q_stride();
    v_stride_ = a.v_stride();
    if (!is_copy(a)) return;
    T* k_copy = scratch;
    T* v_copy = k_copy + (end - begin) * a.size;
    for (Index key = 0; key < end - begin; ++key) {
      std::copy_n(k_ + key * k_stride_, a.size, k_copy + key * a.size);
      std::copy_n(v_ + key * v_stride_, a.value_size, v_copy + key * a.value_size);
    }
    k_ = k_copy;
    v_ = v_copy;
    k_stride_ = a.size;
    v_stride_ = a.value_size;
  }

  // The number of scratch elements for a strip.
  static Index scratch_size(const Attention<T>& a) {
    return is_copy(a) ? std::min(a.keys, strip_keys(a)) * (a.size + a.value_size) : 0;
  }

  // The keys and values of the strip, starting with `key`.
  MatrixView<T> k(Index key, bool transposed = false) const {
    return {k_ + (key - begin_) * k_stride_, k_stride_, transposed};
  }
  MatrixView<T> v(Index key, bool transposed = false) const {
    return {v_ + (key - begin_) * v_stride_, v_stride_, transposed};
  }

 private:
  static bool is_copy(const Attention<T>& a) { return a.queries > query_tile; }

  const T* k_;
  const T* v_;
  Index k_stride_, v_stride_;
  Index begin_;  // the first key
};

// A range of queries and a range of keys of a head.
struct Tile {
  Index first, last;  // queries
  Index begin, end;   // keys

  Index queries() const { return last - first; }
  Index keys() const { return end - begin; }
};

// Calls body(keys and values, tile) for the tiles of a part of a head. It goes strip by strip over
// the keys, so that a strip, packed in the scratch, stays in the L2 cache while all queries pass.
// The tiles of a query come in the order of the keys, and the tiles of a key in the order of the
// queries. A query whose keys are all masked has one empty tile.
template <class T, class Body>
void for_each_tile(const Head<T>& head, const Tile& part, T* scratch, const Body& body) {
  const Attention<T>& a = head.a;
  const Index part_end = std::min(part.end, head.limit(part.first, part.last));
  for (Index strip = part.begin; strip == 0 || strip < part_end; strip += strip_keys(a)) {
    const Index strip_end = std::min(strip + strip_keys(a), part_end);
    const KeysAndValues<T> keys_and_values(head, strip, strip_end, scratch);
    for (Index first = part.first; first < part.last; first += a.tile_queries) {
      const Index last = std::min(first + a.tile_queries, part.last);
      const Index end = std::min(strip_end, head.limit(first, last));
      for (Index begin = strip; begin == 0 || begin < end; begin += a.tile_keys)
        body(keys_and_values, Tile{first, last, begin, std::min(begin + a.tile_keys, end)});
    }
  }
}

// Computes the scores of a tile; masked scores are -infinity.
template <class T>
void compute_scores(const Head<T>& head, const KeysAndValues<T>& keys_and_values, const Tile& tile,
                    T* scores) {
  const Attention<T>& a = head.a;
  matrix_product(a.precision, tile.queries(), tile.keys(), a.size, a.scale,
                 {a.q.data() + head.q_offset(tile.first), a.q_stride()},
                 keys_and_values.k(tile.begin, true), T{0}, scores, a.tile_keys);
  for (Index query = tile.first; query < tile.last; ++query) {
    T* row = scores + (query - tile.first) * a.tile_keys;
    head.add_terms(row, query, tile.begin, tile.end);
    const Index limit = std::clamp<Index>(a.mask.limit(head.b, query) - tile.begin, 0, tile.keys());
    a.mask.apply(head.b, head.h, query, tile.begin, limit, row, row);
    std::fill(row + limit, row + padded(tile.keys()), -std::numeric_limits<T>::infinity());
  }
}

// Sets to = from · the dropout mask, for the weights of a tile. `from` may be `to`.
template <class T>
void apply_dropout(const Head<T>& head, const Tile& tile, const T* from, T* to) {
  const Attention<T>& a = head.a;
  // Rows with the stride of the full weights form one range of elements.
  if (a.tile_keys == a.keys)
    return a.dropout.apply(head.weight_offset(tile.first), from, to, tile.queries() * a.keys);
  for (Index query = tile.first; query < tile.last; ++query) {
    const Index row = (query - tile.first) * a.tile_keys;
    a.dropout.apply(head.weight_offset(query) + tile.begin, from + row, to + row, tile.keys());
  }
}

// An online softmax over the tiles of keys, with a running maximum and sum of each query's scores
// (Milakov and Gimelshein, 2018). O is rescaled whenever the maximum grows, and divided by the sum
// at the end.
template <class T>
void forward_strip(const Head<T>& head, Index first, Index last, T* scratch, Tensor<T>& y,
                   Tensor<T>& log_sums, T* weights) {
  const Attention<T>& a = head.a;
  T* p = scratch + KeysAndValues<T>::scratch_size(a);
  std::array<RowSum<T>, query_strip> sums;
  std::fill_n(sums.begin(), last - first, RowSum<T>::empty_row());
  const auto sum_of = [&](Index query) -> RowSum<T>& {
    return sums[static_cast<std::size_t>(query - first)];
  };
  const auto scale_row = [&](Index query, T factor) {
    T* row = y.data() + head.out_offset(query);
    map_row(
        a.value_size, row, [factor](const auto& part) { return part * factor; }, row);
  };
  const Tile strip{first, last, 0, a.keys};
  for_each_tile(head, strip, scratch, [&](const auto& keys_and_values, const Tile& tile) {
    compute_scores(head, keys_and_values, tile, p);
    for (Index query = tile.first; query < tile.last; ++query) {
      T* row = p + (query - tile.first) * a.tile_keys;
      RowSum<T>& sum = sum_of(query);
      const T rescale = exponentiate_part(row, row, padded(tile.keys()), sum);
      if (rescale != T{1} && tile.begin > 0) scale_row(query, rescale);
      // If weights are written, a tile has all keys.
      if (weights) {
        T* out = weights + head.weight_offset(query);
        std::copy(row, row + tile.end, out);
        std::fill(out + tile.end, out + a.keys, T{0});
        normalize_row(out, tile.end, sum);
      }
    }
    if (a.use_dropout) apply_dropout(head, tile, p, p);
    matrix_product(a.precision, tile.queries(), a.value_size, tile.keys(), T{1}, {p, a.tile_keys},
                   keys_and_values.v(tile.begin), tile.begin == 0 ? T{0} : T{1},
                   y.data() + head.out_offset(tile.first), a.v_stride());
  });
  for (Index query = first; query < last; ++query) {
    scale_row(query, sum_of(query).factor());
    log_sums.data()[head.row(query)] = sum_of(query).log();
  }
}

// Adds the contribution of a part of this head to dq, dk and dv, and to the head's terms of the
// position bias's gradient. The scratch holds two tiles, P and dP.
template <class T>
void backward_part(const Head<T>& head, const Tile& part, T* scratch, const Tensor<T>& y,
                   const Tensor<T>& log_sums, const Tensor<T>& dy, const Gradient<T>& dq,
                   const Gradient<T>& dk, const Gradient<T>& dv, Tensor<T>& terms) {
  const Attention<T>& a = head.a;
  T* const dbias = head.own_terms(terms);
  T* p = scratch + KeysAndValues<T>::scratch_size(a);
  T* dp = p + a.tile_size();
  for_each_tile(head, part, scratch, [&](const auto& keys_and_values, const Tile& tile) {
    std::array<T, query_tile> dy_y;  // <dO, O> of each query
    for (Index query = tile.first; query < tile.last; ++query) {
      const Index at = head.out_offset(query);
      dy_y[static_cast<std::size_t>(query - tile.first)] =
          sum_of_row(a.value_size, product, dy.data() + at, y.data() + at);
    }
    const MatrixView<T> dy_tile{dy.data() + head.out_offset(tile.first), a.v_stride()};
    compute_scores(head, keys_and_values, tile, p);
    for (Index query = tile.first; query < tile.last; ++query) {
      T* row = p + (query - tile.first) * a.tile_keys;
      const T log_sum = log_sums.data()[head.row(query)];
      // A query with every key masked has scores of -infinity, and weights of 0.
      const T shift = log_sum == -std::numeric_limits<T>::infinity() ? T{0} : log_sum;
      const auto weight = [shift](const auto& scores) { return fast_exp(scores - shift); };
      map_row(padded(tile.keys()), row, weight, row);
    }
    if (dv) {
      // dV += (P m)ᵀ dO, with P m in the memory of dP.
      const T* dropped = p;
      if (a.use_dropout) {
        apply_dropout(head, tile, p, dp);
        dropped = dp;
      }
      matrix_product(a.precision, tile.keys(), a.value_size, tile.queries(), T{1},
                     {dropped, a.tile_keys, true}, dy_tile, T{1},
                     dv.data() + head.v_offset(tile.begin), a.v_stride());
    }
    if (!dq && !dk && !dbias) return;
    // dP = m dO Vᵀ, then dS = P (dP - <dO, O>) / √d in place.
    matrix_product(a.precision, tile.queries(), tile.keys(), a.value_size, T{1}, dy_tile,
                   keys_and_values.v(tile.begin, true), T{0}, dp, a.tile_keys);
    if (a.use_dropout) apply_dropout(head, tile, dp, dp);
    for (Index query = tile.first; query < tile.last; ++query) {
      const T* p_row = p + (query - tile.first) * a.tile_keys;
      T* dp_row = dp + (query - tile.first) * a.tile_keys;
      const T dot = dy_y[static_cast<std::size_t>(query - tile.first)];
      const auto ds = [dot, scale = a.scale](const auto& weight, const auto& slope) {
        const auto result = scale * weight * (slope - dot);
        return weight == T{0} ? T{0} : result;
      };
      map_row(padded(tile.keys()), dp_row, ds, p_row, dp_row);
      if (!dbias) continue;
      const auto unscaled = [scale = a.scale](const auto& slope) { return slope / scale; };
      accumulate_row(tile.keys(), dbias + head.distance(query, tile.begin), false, unscaled,
                     dp_row);
    }
    if (dq)
      matrix_product(a.precision, tile.queries(), a.size, tile.keys(), T{1}, {dp, a.tile_keys},
                     keys_and_values.k(tile.begin), T{1}, dq.data() + head.q_offset(tile.first),
                     a.q_stride());
    if (dk)
      matrix_product(a.precision, tile.keys(), a.size, tile.queries(), T{1},
                     {dp, a.tile_keys, true},
                     {a.q.data() + head.q_offset(tile.first), a.q_stride()}, T{1},
                     dk.data() + head.k_offset(tile.begin), a.q_stride());
  });
}

// Calls body(head, part, scratch) for parts [0, parts) of every head of every sequence, in
// parallel; scratch has space for `tiles` tiles.
template <class T, class Body>
void for_each_head(const Attention<T>& a, Index parts, const Tape<T>& tape, Index tiles,
                   const Body& body) {
  if (a.batch * a.heads == 0) return;
  const Index scratch_size = KeysAndValues<T>::scratch_size(a) + tiles * a.tile_size();
  Tensor<T> scratch = tape.uninitialized({thread_count(), scratch_size});
  T* rows = scratch.data();
  parallel_for(a.batch * a.heads * parts, a.grain(parts), [&](Index begin, Index end, int thread) {
    for (Index item = begin; item < end; ++item)
      body(Head<T>{a, item / parts / a.heads, item / parts % a.heads}, item % parts,
           rows + thread * scratch_size);
  });
}

Index strips(Index length, Index strip) { return length <= strip ? 1 : (length - 1) / strip + 1; }

// Gradients of queries are summed in the order of the keys, and gradients of keys and values in the
// order of the queries. Parts of a head on the same diagonal share no queries or keys, so they are
// computed in parallel; the diagonals follow one after another.
template <class T>
void add_gradients_in_tiles(const Attention<T>& a, Tape<T>& tape, const Tensor<T>& y,
                            const Tensor<T>& log_sums, const Tensor<T>& dy, const Gradient<T>& dq,
                            const Gradient<T>& dk, const Gradient<T>& dv, Tensor<T>& terms) {
  // The terms of a position bias are sums over a whole head.
  const Index query_part = terms.empty() ? query_strip : a.queries;
  const Index key_part = terms.empty() ? strip_keys(a) : a.keys;
  const Index rows = strips(a.queries, query_part), columns = strips(a.keys, key_part);
  for (Index diagonal = 0; diagonal < rows + columns - 1; ++diagonal) {
    const Index first_row = std::max<Index>(0, diagonal - columns + 1);
    const Index parts = std::min(rows, diagonal + 1) - first_row;
    for_each_head(a, parts, tape, 2, [&](const Head<T>& head, Index part, T* scratch) {
      const Index query = (first_row + part) * query_part;
      const Index key = (diagonal - first_row - part) * key_part;
      backward_part(
          head,
          {query, std::min(query + query_part, a.queries), key, std::min(key + key_part, a.keys)},
          scratch, y, log_sums, dy, dq, dk, dv, terms);
    });
  }
}

// Sums the terms [B, H, distances] over all sequences and adds them to the gradient of a position
// bias.
template <class T>
void add_sequences(const Tensor<T>& terms, Gradient<T> dbias) {
  dbias.zero_if_fresh();
  const Index batch = terms.shape()[0], size = std::ssize(dbias.values);
  parallel_for(size, grain_of(batch), [&](Index begin, Index end) {
    for (Index b = 0; b < batch; ++b)
      accumulate_row(end - begin, dbias.data() + begin, false, identity,
                     terms.data() + b * size + begin);
  });
}

void check_inputs(const Shape& q, const Shape& k, const Shape& v, const AttentionOptions& options) {
  const char* const operation = "scaled_dot_product_attention";
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3)
    fail<ShapeError>(operation, "queries, keys and values of shape [batch, length, size]",
                     str_cat(q, ", ", k, " and ", v));
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || q[2] != k[2])
    fail<ShapeError>(operation, "queries [B, Q, C], keys [B, K, C] and values [B, K, D]",
                     str_cat(q, ", ", k, " and ", v));
  if (options.num_heads < 1 || q[2] % options.num_heads != 0 || v[2] % options.num_heads != 0)
    fail<ValueError>(str_cat(operation, ": num_heads"),
                     str_cat("a positive divisor of ", q[2], " and ", v[2]), options.num_heads);
  check_probability("scaled_dot_product_attention: dropout", options.dropout);
}

}  // namespace

// Forward:  S = Q Kᵀ / √d + the mask's bias + the position bias, P = softmax(S) over the keys that
//           are not masked, O = (P m) V with the dropout mask m.
// Backward: dV = (P m)ᵀ dO, dP = m (dO Vᵀ), dS = P (dP - <dO, O>), dQ = dS K / √d,
//           dK = dSᵀ Q / √d, and dS summed over its diagonals for the position bias.
// Keeps P if the sequences are short. Otherwise keeps L = log Σ exp S for each row and recomputes
// P = exp(S - L), so that memory is linear in the length, not quadratic.
template <class T>
Var<T> scaled_dot_product_attention(const Var<T>& all_queries, const Var<T>& all_keys,
                                    const Var<T>& all_values, const AttentionOptions& options,
                                    const std::type_identity_t<std::optional<Var<T>>>& bias) {
  Tape<T>& tape = tape_of("scaled_dot_product_attention", all_queries, all_keys, all_values);
  check_inputs(all_queries.shape(), all_keys.shape(), all_values.shape(), options);
  const Index batch = all_queries.shape()[0], heads = options.num_heads;
  const Index num_queries = all_queries.shape()[1], num_keys = all_keys.shape()[1];
  const MaskView mask("scaled_dot_product_attention", options.mask, batch, heads, num_queries,
                      num_keys);
  if (bias) {
    tape_of("scaled_dot_product_attention", all_queries, *bias);
    const Shape expected{heads, std::max<Index>(0, num_queries + num_keys - 1)};
    if (bias->shape() != expected)
      fail<ShapeError>("scaled_dot_product_attention: position_bias", expected, bias->shape());
  }
  const Var<T> queries = visible_queries(mask, all_queries, all_keys);
  const FiniteKeys<T> finite = mask.is_same_for_all_queries() ? FiniteKeys<T>{all_keys, all_values}
                                                              : finite_keys(all_keys, all_values);
  const Var<T>&keys = finite.keys, &values = finite.values;
  const Index size = queries.shape()[2] / heads;
  const bool use_dropout = tape.training() && options.dropout > 0.0;
  const Attention<T> attention{
      .q = queries.value(),
      .k = keys.value(),
      .v = values.value(),
      .marks = finite.marks,
      .position_bias = bias ? bias->value() : Tensor<T>(),
      .batch = batch,
      .heads = heads,
      .queries = num_queries,
      .keys = num_keys,
      .size = size,
      .value_size = values.shape()[2] / heads,
      .scale = static_cast<T>(
          size == 0 || !options.scaled ? 1.0 : 1.0 / std::sqrt(static_cast<double>(size))),
      .mask = mask,
      .dropout =
          DropoutMask(use_dropout ? tape.next_random_stream() : RandomStream{}, options.dropout),
      .use_dropout = use_dropout,
      .tile_queries = options.mask.causal ? causal_query_tile(tape.precision()) : query_tile,
      // Weights are written in whole rows.
      .tile_keys = padded(std::max<Index>(
          1, tape.keeps_attention_weights() ? num_keys : std::min(key_tile, num_keys))),
      .precision = tape.precision()};

  Tensor<T> y = tape.uninitialized({batch, num_queries, values.shape()[2]});
  T* weights = nullptr;
  if (tape.keeps_attention_weights()) {
    Tensor<T> kept({batch, heads, num_queries, num_keys});
    weights = kept.data();
    tape.add_attention_weights(std::move(kept));
  }
  tape.count_products(num_queries, num_keys, size + attention.value_size, batch * heads);
  // Records the result; add_gradients(pass, dy, dq, dk, dv, terms) adds to the gradients.
  const NodeId bias_node = bias ? bias->node() : no_node;
  const Shape terms_shape =
      bias_node == no_node ? Shape{0} : Shape{batch, heads, attention.distances()};
  const auto record = [&](const auto& add_gradients) {
    return tape.record("scaled_dot_product_attention", y,
                       {queries.node(), keys.node(), values.node(), bias_node},
                       [q = queries.node(), k = keys.node(), v = values.node(), bias_node,
                        terms_shape, add_gradients](Tape<T>& backward, const Tensor<T>& dy) {
                         // One variable may be queries, keys and values at once: zero all fresh
                         // gradients before adding.
                         const Gradient<T> dq = backward.gradient(q).zero_if_fresh();
                         const Gradient<T> dk = backward.gradient(k).zero_if_fresh();
                         const Gradient<T> dv = backward.gradient(v).zero_if_fresh();
                         Tensor<T> terms = backward.zeros(terms_shape);
                         add_gradients(backward, dy, dq, dk, dv, terms);
                         if (bias_node != no_node)
                           add_sequences(terms, backward.gradient(bias_node));
                       });
  };
  if (prefers_blocks(attention)) {
    const Tensor<T> p = attend_in_blocks(attention, tape, y, weights);
    return record([attention, p](Tape<T>& backward, const Tensor<T>& dy, auto&... gradients) {
      add_gradients_in_blocks(attention, backward, p, dy, gradients...);
    });
  }
  Tensor<T> log_sums = tape.uninitialized({batch, heads, num_queries});
  for_each_head(attention, strips(num_queries, query_strip), tape, 1,
                [&](const Head<T>& head, Index strip, T* scratch) {
                  const Index first = strip * query_strip;
                  forward_strip(head, first, std::min(first + query_strip, num_queries), scratch, y,
                                log_sums, weights);
                });
  Attention<T> saved = attention;
  for (Tensor<T>* x : {&saved.q, &saved.k, &saved.v}) *x = tape.saved(*x);
  return record([saved, y = tape.saved(y), log_sums](Tape<T>& backward, const Tensor<T>& dy,
                                                     auto&... gradients) {
    for (const Tensor<T>* x : {&saved.q, &saved.k, &saved.v, &y}) x->data();  // by all threads
    add_gradients_in_tiles(saved, backward, y, log_sums, dy, gradients...);
  });
}

template Var<float> scaled_dot_product_attention(const Var<float>&, const Var<float>&,
                                                 const Var<float>&, const AttentionOptions&,
                                                 const std::optional<Var<float>>&);
template Var<double> scaled_dot_product_attention(const Var<double>&, const Var<double>&,
                                                  const Var<double>&, const AttentionOptions&,
                                                  const std::optional<Var<double>>&);

}  // namespace weft
