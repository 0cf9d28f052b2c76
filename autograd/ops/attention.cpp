#include "weft/autograd/ops/attention.hpp"

#include <array>
#include <cmath>

#include "weft/autograd/finite.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/internal/saturating_product.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/dropout_mask.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/softmax_rows.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {
namespace {

// Queries and keys per tile: its scores stay in the L2 cache.
constexpr Index query_tile = 256, key_tile = 128;
// Under a causal mask, smaller tiles compute fewer masked scores.
constexpr Index causal_query_tile = 32;
// Rows of scores are padded with -infinity to a multiple of this, so that they are whole vectors.
constexpr Index padding = 16;

constexpr Index padded(Index keys) { return (keys + padding - 1) / padding * padding; }

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

template <class T>
bool is_finite(const Tensor<T>& x) {
  return sum_of_ranges(x.size(), 1, [&](Index begin, Index end) {
           return all_finite(x.data() + begin, end - begin) ? 0.0 : 1.0;
         }) == 0.0;
}

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

// A range of queries and a range of keys of a head.
struct Tile {
  Index first, last;  // queries
  Index begin, end;   // keys

  Index queries() const { return last - first; }
  Index keys() const { return end - begin; }
};

// Calls body(tile) for the tiles of queries first … last, in the order of the keys; for one empty
// tile when all keys are masked.
template <class T, class Body>
void for_each_tile_of(const Head<T>& head, Index first, Index last, const Body& body) {
  const Index limit = head.limit(first, last);
  for (Index begin = 0; begin == 0 || begin < limit; begin += head.a.tile_keys)
    body(Tile{first, last, begin, std::min(begin + head.a.tile_keys, limit)});
}

// The scores of a tile, masked ones -infinity.
template <class T>
void compute_scores(const Head<T>& head, const KeysAndValues<T>& keys_and_values, const Tile& tile,
                    T* scores) {
  const Attention<T>& a = head.a;
  matrix_product(a.precision, tile.queries(), tile.keys(), a.size, a.scale,
                 {a.q.data() + head.q_offset(tile.first), a.q_stride()},
                 keys_and_values.k(true).at(0, tile.begin), T{0}, scores, a.tile_keys);
  for (Index query = tile.first; query < tile.last; ++query) {
    T* row = scores + (query - tile.first) * a.tile_keys;
    keys_and_values.propagate_non_finite(row, tile.begin, tile.end);
    const Index limit = std::clamp<Index>(a.mask.limit(head.b, query) - tile.begin, 0, tile.keys());
    a.mask.apply(head.b, head.h, query, tile.begin, limit, row, row);
    std::fill(row + limit, row + padded(tile.keys()), -std::numeric_limits<T>::infinity());
  }
}

// to = from · dropout's mask, for the weights of a tile. `from` may be `to`.
template <class T>
void apply_dropout(const Head<T>& head, const Tile& tile, const T* from, T* to) {
  const Attention<T>& a = head.a;
  // Rows with the stride of the whole weights are one range of elements.
  if (a.tile_keys == a.keys)
    return a.dropout.apply(head.weight_offset(tile.first), from, to, tile.queries() * a.keys);
  for (Index query = tile.first; query < tile.last; ++query) {
    const Index row = (query - tile.first) * a.tile_keys;
    a.dropout.apply(head.weight_offset(query) + tile.begin, from + row, to + row, tile.keys());
  }
}

// An online softmax over the tiles of keys, with a running maximum and sum of each query's scores
// (Milakov and Gimelshein, 2018): O is rescaled when the maximum grows, and divided by the sum
// last.
template <class T>
void forward_head(const Head<T>& head, T* scratch, Tensor<T>& y, Tensor<T>& log_sums, T* weights) {
  const Attention<T>& a = head.a;
  const KeysAndValues<T> keys_and_values(head, scratch);
  T* p = scratch + KeysAndValues<T>::scratch_size(a);
  const auto scale_row = [&](Index query, T factor) {
    T* row = y.data() + head.out_offset(query);
    map_row(
        a.value_size, row, [factor](const auto& part) { return part * factor; }, row);
  };
  for (Index first = 0; first < a.queries; first += a.tile_queries) {
    const Index last = std::min(first + a.tile_queries, a.queries);
    std::array<RowSum<T>, query_tile> sums;
    std::fill_n(sums.begin(), last - first, RowSum<T>::empty_row());
    for_each_tile_of(head, first, last, [&](const Tile& tile) {
      compute_scores(head, keys_and_values, tile, p);
      for (Index query = first; query < last; ++query) {
        T* row = p + (query - first) * a.tile_keys;
        RowSum<T>& sum = sums[static_cast<std::size_t>(query - first)];
        const T rescale = exponentiate_part(row, row, padded(tile.keys()), sum);
        if (rescale != T{1} && tile.begin > 0) scale_row(query, rescale);
        // With weights, a tile has all keys.
        if (weights) {
          T* out = weights + head.weight_offset(query);
          std::copy(row, row + tile.end, out);
          std::fill(out + tile.end, out + a.keys, T{0});
          normalize_row(out, tile.end, sum);
        }
      }
      if (a.use_dropout) apply_dropout(head, tile, p, p);
      matrix_product(a.precision, tile.queries(), a.value_size, tile.keys(), T{1}, {p, a.tile_keys},
                     keys_and_values.v().at(tile.begin, 0), tile.begin == 0 ? T{0} : T{1},
                     y.data() + head.out_offset(first), a.v_stride());
    });
    for (Index query = first; query < last; ++query) {
      const RowSum<T>& sum = sums[static_cast<std::size_t>(query - first)];
      scale_row(query, sum.factor());
      log_sums.data()[head.row(query)] = sum.log();
    }
  }
}

// Adds this head's part to dq, dk and dv. The scratch holds two tiles, P and dP.
template <class T>
void backward_head(const Head<T>& head, T* scratch, const Tensor<T>& y, const Tensor<T>& log_sums,
                   const Tensor<T>& dy, const Gradient<T>& dq, const Gradient<T>& dk,
                   const Gradient<T>& dv) {
  const Attention<T>& a = head.a;
  const KeysAndValues<T> keys_and_values(head, scratch);
  T* p = scratch + KeysAndValues<T>::scratch_size(a);
  T* dp = p + a.tile_size();
  for (Index first = 0; first < a.queries; first += a.tile_queries) {
    const Index last = std::min(first + a.tile_queries, a.queries);
    std::array<T, query_tile> dy_y;  // <dO, O> of each query
    for (Index query = first; query < last; ++query) {
      const Index at = head.out_offset(query);
      dy_y[static_cast<std::size_t>(query - first)] =
          sum_of_row(a.value_size, product, dy.data() + at, y.data() + at);
    }
    const MatrixView<T> dy_tile{dy.data() + head.out_offset(first), a.v_stride()};
    for_each_tile_of(head, first, last, [&](const Tile& tile) {
      compute_scores(head, keys_and_values, tile, p);
      for (Index query = first; query < last; ++query) {
        T* row = p + (query - first) * a.tile_keys;
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
      if (!dq && !dk) return;
      // dP = m dO Vᵀ, then dS = P (dP - <dO, O>) / √d in place.
      matrix_product(a.precision, tile.queries(), tile.keys(), a.value_size, T{1}, dy_tile,
                     keys_and_values.v(true).at(0, tile.begin), T{0}, dp, a.tile_keys);
      if (a.use_dropout) apply_dropout(head, tile, dp, dp);
      for (Index query = first; query < last; ++query) {
        const T* p_row = p + (query - first) * a.tile_keys;
        T* dp_row = dp + (query - first) * a.tile_keys;
        const T dot = dy_y[static_cast<std::size_t>(query - first)];
        const auto ds = [dot, scale = a.scale](const auto& weight, const auto& slope) {
          const auto result = scale * weight * (slope - dot);
          return weight == T{0} ? T{0} : result;
        };
        map_row(padded(tile.keys()), dp_row, ds, p_row, dp_row);
      }
      if (dq)
        matrix_product(a.precision, tile.queries(), a.size, tile.keys(), T{1}, {dp, a.tile_keys},
                       keys_and_values.k().at(tile.begin, 0), T{1},
                       dq.data() + head.q_offset(first), a.q_stride());
      if (dk)
        matrix_product(a.precision, tile.keys(), a.size, tile.queries(), T{1},
                       {dp, a.tile_keys, true}, {a.q.data() + head.q_offset(first), a.q_stride()},
                       T{1}, dk.data() + head.k_offset(tile.begin), a.q_stride());
    });
  }
}

// Calls body(head, scratch) for every head of every sequence, in parallel; scratch has room for
// `tiles` tiles.
template <class T, class Body>
void for_each_head(const Attention<T>& a, const Pass<T>& pass, Index tiles, const Body& body) {
  if (a.batch * a.heads == 0) return;
  const Index scratch_size = KeysAndValues<T>::scratch_size(a) + tiles * a.tile_size();
  Tensor<T> scratch = pass.uninitialized({thread_count(), scratch_size});
  T* rows = scratch.data();
  parallel_for(a.batch * a.heads, a.grain(), [&](Index begin, Index end, int thread) {
    for (Index item = begin; item < end; ++item)
      body(Head<T>{a, item / a.heads, item % a.heads}, rows + thread * scratch_size);
  });
}

template <class T>
void check_inputs(const Shape& q, const Shape& k, const Shape& v,
                  const AttentionOptions<T>& options) {
  const char* const operation = "scaled_dot_product_attention";
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3)
    fail<ShapeError>(operation, "queries, keys and values of shape [batch, length, size]",
                     concatenate_text(q, ", ", k, " and ", v));
  if (q[0] != k[0] || q[0] != v[0] || k[1] != v[1] || q[2] != k[2])
    fail<ShapeError>(operation, "queries [B, Q, C], keys [B, K, C] and values [B, K, D]",
                     concatenate_text(q, ", ", k, " and ", v));
  if (options.num_heads < 1 || q[2] % options.num_heads != 0 || v[2] % options.num_heads != 0)
    fail<ValueError>(concatenate_text(operation, ": num_heads"),
                     concatenate_text("a positive divisor of ", q[2], " and ", v[2]),
                     options.num_heads);
  check_probability("scaled_dot_product_attention: dropout", options.dropout);
}

}  // namespace

// Forward:  S = Q Kᵀ / √d + the mask's bias, P = softmax(S) over the keys not masked, O = (P m) V
//           with the dropout mask m.
// Backward: dV = (P m)ᵀ dO, dP = m (dO Vᵀ), dS = P (dP - <dO, O>) / √d, dQ = dS K, dK = dSᵀ Q.
// Keeps L = log Σ exp S for each row and recomputes P = exp(S - L), so that memory is linear in the
// length, not quadratic.
template <class T>
Var<T> scaled_dot_product_attention(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                                    const AttentionOptions<T>& options) {
  Pass<T>& pass = pass_of("scaled_dot_product_attention", queries, keys, values);
  check_inputs(queries.shape(), keys.shape(), values.shape(), options);
  const Index batch = queries.shape()[0], heads = options.num_heads;
  const Index num_queries = queries.shape()[1], num_keys = keys.shape()[1];
  const Index size = queries.shape()[2] / heads, value_size = values.shape()[2] / heads;
  const bool use_dropout = pass.training() && options.dropout > 0.0;
  const MaskView mask("scaled_dot_product_attention", options.mask, batch, heads, num_queries,
                      num_keys);
  const Attention<T> attention{
      queries.value(), keys.value(), values.value(), batch, heads, num_queries, num_keys, size,
      value_size, static_cast<T>(size == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(size))),
      mask, DropoutMask(use_dropout ? pass.next_random_stream() : RandomStream{}, options.dropout),
      use_dropout,
      mask.is_same_for_all_queries() || (is_finite(keys.value()) && is_finite(values.value())),
      options.mask.causal ? causal_query_tile : query_tile,
      // Weights are written in whole rows.
      padded(std::max<Index>(1, options.weights ? num_keys : std::min(key_tile, num_keys))),
      pass.precision()};

  Tensor<T> y = pass.uninitialized({batch, num_queries, values.shape()[2]});
  Tensor<T> log_sums = pass.uninitialized({batch, heads, num_queries});
  T* weights = nullptr;
  if (options.weights) {
    *options.weights = Tensor<T>::uninitialized({batch, heads, num_queries, num_keys});
    weights = options.weights->data();
  }
  for_each_head(attention, pass, 1, [&](const Head<T>& head, T* scratch) {
    forward_head(head, scratch, y, log_sums, weights);
  });

  return pass.record("scaled_dot_product_attention", y,
                     {queries.node(), keys.node(), values.node()},
                     [q = queries.node(), k = keys.node(), v = values.node(), attention, y,
                      log_sums](Pass<T>& backward, const Tensor<T>& dy) {
                       // One variable may be queries, keys and values at once: zero all fresh
                       // gradients before adding.
                       const Gradient<T> dq = backward.gradient(q).zero_if_fresh();
                       const Gradient<T> dk = backward.gradient(k).zero_if_fresh();
                       const Gradient<T> dv = backward.gradient(v).zero_if_fresh();
                       for_each_head(attention, backward, 2, [&](const Head<T>& head, T* scratch) {
                         backward_head(head, scratch, y, log_sums, dy, dq, dk, dv);
                       });
                     });
}

template Var<float> scaled_dot_product_attention(const Var<float>&, const Var<float>&,
                                                 const Var<float>&, const AttentionOptions<float>&);
template Var<double> scaled_dot_product_attention(const Var<double>&, const Var<double>&,
                                                  const Var<double>&,
                                                  const AttentionOptions<double>&);

}  // namespace weft
