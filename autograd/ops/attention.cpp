#include "weft/autograd/ops/attention.hpp"

#include <array>
#include <cmath>

#include "weft/autograd/finite.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/dropout_mask.hpp"
#include "autograd/kernels/matrix_product.hpp"
#include "autograd/kernels/softmax_rows.hpp"
#include "autograd/ops/internal/mask_view.hpp"

namespace weft {
namespace {

// How many queries and keys are worked on at a time: their scores stay in the second-level cache.
constexpr Index query_tile = 256, key_tile = 128;
// Under a causal mask fewer queries see less of what is beyond the first of them.
constexpr Index causal_query_tile = 32;
// A row of scores is padded with -infinity to a multiple of this many, so that it is whole vectors.
constexpr Index padding = 16;

constexpr Index padded(Index keys) { return (keys + padding - 1) / padding * padding; }

// What forward and backward share: the inputs, their sizes, and who sees whom.
template <class T>
struct Attention {
  Tensor<T> q, k, v;  // [B, Q, H · d], [B, K, H · d], [B, K, H · d_v]
  Index batch, heads, queries, keys, size, value_size;
  T scale;
  MaskView mask;
  DropoutMask dropout;
  bool drops;
  // Where queries see different keys: no key or value is NaN or infinite.
  bool all_finite;
  Index tile_queries;  // worked on at a time
  Index tile_keys;     // keys worked on at a time, padded

  Index q_stride() const { return heads * size; }
  Index v_stride() const { return heads * value_size; }
  // Elements of a tile of scores, whose rows are tile_keys apart.
  Index tile_size() const { return std::min(tile_queries, queries) * tile_keys; }
  // Work on (sequence, head) pairs: how many make a range for a thread.
  Index grain() const { return grain_of(queries * keys * (size + value_size + 16) / 4); }
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
  // The position of (query, key 0) among all weights [B, H, Q, K]; of the query among all rows.
  Index row(Index query) const { return (b * a.heads + h) * a.queries + query; }
  Index weight_offset(Index query) const { return row(query) * a.keys; }

  // How many keys the queries first … last see at the most.
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

// The keys and values of a head. Where many queries read them, they are copied to where they lie
// close together. Where queries see different keys, a hidden key has weight 0, and 0 times
// a NaN or an infinity would reach the result: if not all are finite, the copy has such rows as
// zeros, and the queries that do see them get NaN.
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
    if (!a.all_finite) bad_ = scratch;
    for (Index key = 0; key < a.keys; ++key) {
      const bool good = a.all_finite || finite(a, key);
      if (bad_) bad_[key] = good ? T{0} : std::numeric_limits<T>::quiet_NaN();
      copy_row(good ? k_ + key * k_stride_ : nullptr, a.size, k_copy + key * a.size);
      copy_row(good ? v_ + key * v_stride_ : nullptr, a.value_size, v_copy + key * a.value_size);
    }
    k_ = k_copy;
    v_ = v_copy;
    k_stride_ = a.size;
    v_stride_ = a.value_size;
  }

  // Elements of scratch that a head may need.
  static Index scratch_size(const Attention<T>& a) {
    return is_copy(a) ? a.keys * (1 + a.size + a.value_size) : 0;
  }

  MatrixView<T> k(bool transposed = false) const { return {k_, k_stride_, transposed}; }
  MatrixView<T> v(bool transposed = false) const { return {v_, v_stride_, transposed}; }
  // Makes the scores of bad keys among begin … end NaN.
  void mark(T* scores, Index begin, Index end) const {
    if (bad_)
      for (Index key = begin; key < end; ++key) scores[key - begin] += bad_[key];
  }

 private:
  static bool is_copy(const Attention<T>& a) { return !a.all_finite || a.queries > query_tile; }

  // Copies a row, or writes zeros where there is none.
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
  T* bad_ = nullptr;
};

// Some queries and some keys of a head.
struct Tile {
  Index first, last;  // queries
  Index begin, end;   // keys

  Index queries() const { return last - first; }
  Index keys() const { return end - begin; }
};

// Calls body(tile) for the tiles of queries first … last, in the order of the keys; for one without
// keys when the queries see none.
template <class T, class Body>
void for_each_tile_of(const Head<T>& head, Index first, Index last, const Body& body) {
  const Index limit = head.limit(first, last);
  for (Index begin = 0; begin == 0 || begin < limit; begin += head.a.tile_keys)
    body(Tile{first, last, begin, std::min(begin + head.a.tile_keys, limit)});
}

// The scores of a tile, hidden ones -infinity.
template <class T>
void score(const Head<T>& head, const KeysAndValues<T>& rows, const Tile& tile, T* scores) {
  const Attention<T>& a = head.a;
  matrix_product(tile.queries(), tile.keys(), a.size, a.scale,
                 {a.q.data() + head.q_offset(tile.first), a.q_stride()},
                 rows.k(true).at(0, tile.begin), T{0}, scores, a.tile_keys);
  for (Index query = tile.first; query < tile.last; ++query) {
    T* row = scores + (query - tile.first) * a.tile_keys;
    rows.mark(row, tile.begin, tile.end);
    const Index own = std::clamp<Index>(a.mask.limit(head.b, query) - tile.begin, 0, tile.keys());
    a.mask.apply(head.b, head.h, query, tile.begin, own, row, row);
    std::fill(row + own, row + padded(tile.keys()), -std::numeric_limits<T>::infinity());
  }
}

// to = from · dropout's mask, for the weights of a tile. `from` may be `to`.
template <class T>
void drop(const Head<T>& head, const Tile& tile, const T* from, T* to) {
  const Attention<T>& a = head.a;
  // Rows that lie as those of all weights do are one range of elements.
  if (a.tile_keys == a.keys)
    return a.dropout.apply(head.weight_offset(tile.first), from, to, tile.queries() * a.keys);
  for (Index query = tile.first; query < tile.last; ++query) {
    const Index row = (query - tile.first) * a.tile_keys;
    a.dropout.apply(head.weight_offset(query) + tile.begin, from + row, to + row, tile.keys());
  }
}

// Works through the keys with a running maximum and sum of each query's scores (Milakov and
// Gimelshein, 2018): what was added to O before is scaled down when the maximum grows, and the
// division by the sum comes last.
template <class T>
void forward_head(const Head<T>& head, T* scratch, Tensor<T>& y, Tensor<T>& log_sums, T* weights) {
  const Attention<T>& a = head.a;
  const KeysAndValues<T> rows(head, scratch);
  T* p = scratch + KeysAndValues<T>::scratch_size(a);
  const auto scale_row = [&](Index query, T factor) {
    T* row = y.data() + head.out_offset(query);
    map_row(
        a.value_size, row, [factor](const auto& part) { return part * factor; }, row);
  };
  for (Index first = 0; first < a.queries; first += a.tile_queries) {
    const Index last = std::min(first + a.tile_queries, a.queries);
    std::array<RowSum<T>, query_tile> sums;
    std::fill_n(sums.begin(), last - first, RowSum<T>::nothing());
    for_each_tile_of(head, first, last, [&](const Tile& tile) {
      score(head, rows, tile, p);
      for (Index query = first; query < last; ++query) {
        T* row = p + (query - first) * a.tile_keys;
        RowSum<T>& sum = sums[static_cast<std::size_t>(query - first)];
        const T before = exponentiate_part(row, row, padded(tile.keys()), sum);
        if (before != T{1} && tile.begin > 0) scale_row(query, before);
        // The only tile of the row, then.
        if (weights) {
          T* out = weights + head.weight_offset(query);
          std::copy(row, row + tile.end, out);
          std::fill(out + tile.end, out + a.keys, T{0});
          normalize_row(out, tile.end, sum);
        }
      }
      if (a.drops) drop(head, tile, p, p);
      matrix_product(tile.queries(), a.value_size, tile.keys(), T{1}, {p, a.tile_keys},
                     rows.v().at(tile.begin, 0), tile.begin == 0 ? T{0} : T{1},
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
  const KeysAndValues<T> rows(head, scratch);
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
      score(head, rows, tile, p);
      for (Index query = first; query < last; ++query) {
        T* row = p + (query - first) * a.tile_keys;
        const T log_sum = log_sums.data()[head.row(query)];
        // A query that sees nothing has only scores of -infinity, and weights of 0.
        const T base = log_sum == -std::numeric_limits<T>::infinity() ? T{0} : log_sum;
        const auto weight = [base](const auto& scores) { return fast_exp(scores - base); };
        map_row(padded(tile.keys()), row, weight, row);
      }
      if (dv) {
        // dV += (P m)ᵀ dO, with the dropped weights borrowed from the room of dP.
        const T* dropped = p;
        if (a.drops) {
          drop(head, tile, p, dp);
          dropped = dp;
        }
        matrix_product(tile.keys(), a.value_size, tile.queries(), T{1},
                       {dropped, a.tile_keys, true}, dy_tile, T{1},
                       dv.data() + head.v_offset(tile.begin), a.v_stride());
      }
      if (!dq && !dk) return;
      // dP = m dO Vᵀ, then dS = P (dP - <dO, O>) / √d in its place.
      matrix_product(tile.queries(), tile.keys(), a.value_size, T{1}, dy_tile,
                     rows.v(true).at(0, tile.begin), T{0}, dp, a.tile_keys);
      if (a.drops) drop(head, tile, dp, dp);
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
        matrix_product(tile.queries(), a.size, tile.keys(), T{1}, {dp, a.tile_keys},
                       rows.k().at(tile.begin, 0), T{1}, dq.data() + head.q_offset(first),
                       a.q_stride());
      if (dk)
        matrix_product(tile.keys(), a.size, tile.queries(), T{1}, {dp, a.tile_keys, true},
                       {a.q.data() + head.q_offset(first), a.q_stride()}, T{1},
                       dk.data() + head.k_offset(tile.begin), a.q_stride());
    });
  }
}

// Calls body(head, scratch) for every head of every sequence, in parallel; room for `tiles` tiles.
template <class T, class Body>
void for_each_head(const Attention<T>& a, const Pass<T>& pass, Index tiles, const Body& body) {
  const Index room = KeysAndValues<T>::scratch_size(a) + tiles * a.tile_size();
  Tensor<T> scratch = pass.uninitialized({thread_count(), room});
  parallel_for(a.batch * a.heads, a.grain(), [&](Index begin, Index end) {
    for (Index item = begin; item < end; ++item)
      body(Head<T>{a, item / a.heads, item % a.heads}, scratch.data() + thread_index() * room);
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

// Forward:  S = Q Kᵀ / √d + what the mask adds, P = softmax(S) over the keys seen, O = (P m) V with
//           dropout's mask m.
// Backward: dV = (P m)ᵀ dO, dP = m (dO Vᵀ), dS = P (dP - <dO, O>) / √d, dQ = dS K, dK = dSᵀ Q.
// Keeps L = log Σ exp S for each row and works out P = exp(S - L) again, so that memory grows with
// the length, not with its square.
template <class T>
Var<T> scaled_dot_product_attention(const Var<T>& queries, const Var<T>& keys, const Var<T>& values,
                                    const AttentionOptions<T>& options) {
  Pass<T>& pass = pass_of("scaled_dot_product_attention", queries, keys, values);
  check_inputs(queries.shape(), keys.shape(), values.shape(), options);
  const Index batch = queries.shape()[0], heads = options.num_heads;
  const Index num_queries = queries.shape()[1], num_keys = keys.shape()[1];
  const Index size = queries.shape()[2] / heads, value_size = values.shape()[2] / heads;
  const bool drops = pass.training() && options.dropout > 0.0;
  const MaskView mask("scaled_dot_product_attention", options.mask, batch, heads, num_queries,
                      num_keys);
  const Attention<T> attention{
      queries.value(), keys.value(), values.value(), batch, heads, num_queries, num_keys, size,
      value_size, static_cast<T>(size == 0 ? 1.0 : 1.0 / std::sqrt(static_cast<double>(size))),
      mask, DropoutMask(drops ? pass.next_random_stream() : RandomStream{}, options.dropout), drops,
      mask.same_for_all_queries() || (is_finite(keys.value()) && is_finite(values.value())),
      options.mask.causal ? causal_query_tile : query_tile,
      // Weights are handed out row by row.
      padded(std::max<Index>(1, options.weights ? num_keys : std::min(key_tile, num_keys)))};

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
                       // One variable may be queries, keys and values at once: what is fresh is
                       // zeroed first.
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
