#include "weft/layers/multi_head_attention.hpp"

#include <limits>

#include "weft/autograd/ops/shaping.hpp"
#include "autograd/ops/internal/masked_nan.hpp"
#include "layers/internal/cached_attention.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {
namespace {

Index head_size(const MultiHeadAttentionOptions& options) {
  return options.head_size.value_or(options.num_hiddens / options.num_heads);
}

const MultiHeadAttentionOptions& checked(const MultiHeadAttentionOptions& options) {
  check_positive("MultiHeadAttention: query_size", options.query_size);
  check_positive("MultiHeadAttention: key_size", options.key_size);
  check_positive("MultiHeadAttention: value_size", options.value_size);
  const auto [heads, hiddens] = std::pair(options.num_heads, options.num_hiddens);
  if (options.head_size) check_positive("MultiHeadAttention: head_size", *options.head_size);
  if (heads <= 0 || hiddens <= 0 || (!options.head_size && hiddens % heads != 0))
    fail<ValueError>("MultiHeadAttention", "num_hiddens > 0 divisible by num_heads > 0",
                     str_cat("num_hiddens ", hiddens, " and num_heads ", heads));
  constexpr Index most = std::numeric_limits<Index>::max();
  if (options.head_size && *options.head_size > most / heads)
    fail<ValueError>("MultiHeadAttention: head_size",
                     str_cat("at most ", most / heads, " with num_heads ", heads),
                     *options.head_size);
  if (options.num_kv_heads && (*options.num_kv_heads <= 0 || heads % *options.num_kv_heads != 0))
    fail<ValueError>("MultiHeadAttention: num_kv_heads",
                     str_cat("a positive divisor of num_heads ", heads), *options.num_kv_heads);
  if (options.rotary)
    check_rotary("MultiHeadAttention: rotary", heads * head_size(options), heads, *options.rotary);
  if (options.window) check_positive("MultiHeadAttention: window", *options.window);
  return options;
}

AttentionPoolingOptions pooling(const MultiHeadAttentionOptions& options) {
  const Index size = head_size(options);
  return {.scoring = options.scoring,
          .dropout = options.dropout,
          .num_heads = options.num_heads,
          .additive = {.query_size = size, .key_size = size, .num_hiddens = size}};
}

// The size of the projected keys and values.
Index kv_size(const MultiHeadAttentionOptions& options) {
  return head_size(options) * options.num_kv_heads.value_or(options.num_heads);
}

// Repeats each head of x [batch, time, kv_heads · d] for the query heads that share it; returns
// [batch, time, heads · d].
template <class T>
Var<T> shared_by_queries(const Var<T>& x, Index kv_heads, Index heads) {
  if (kv_heads == heads) return x;
  const Shape& shape = x.shape();
  const Index size = shape[2] / kv_heads;
  return reshape(repeat(reshape(x, {shape[0], shape[1], kv_heads, size}), 2, heads / kv_heads),
                 {shape[0], shape[1], heads * size});
}

template <class T>
std::optional<RMSNorm<T>> norm_of_heads(const MultiHeadAttentionOptions& options) {
  if (!options.qk_norm_eps) return std::nullopt;
  return RMSNorm<T>({.num_hiddens = head_size(options), .eps = *options.qk_norm_eps});
}

// Returns the mask with the smaller one of its own window and `window`, if that is set.
Mask within_window(Mask mask, const std::optional<Index>& window) {
  if (window) mask.window = std::min(*window, mask.window.value_or(*window));
  return mask;
}

}  // namespace

template <class T>
MultiHeadAttention<T>::MultiHeadAttention(const MultiHeadAttentionOptions& o, Random& random)
    : attention(pooling(checked(o)), random),
      W_q({o.query_size, o.num_heads * head_size(o), o.bias}, random),
      W_k({o.key_size, kv_size(o), o.bias}, random),
      W_v({o.value_size, kv_size(o), o.bias}, random),
      W_o({o.num_heads * head_size(o), o.num_hiddens, o.output_bias.value_or(o.bias)}, random),
      q_norm(norm_of_heads<T>(o)),
      k_norm(norm_of_heads<T>(o)),
      rotary(o.rotary),
      window(o.window),
      num_kv_heads_(o.num_kv_heads.value_or(o.num_heads)) {}

template <class T>
Var<T> MultiHeadAttention<T>::placed(const Var<T>& x, const std::optional<RMSNorm<T>>& norm,
                                     Index num_heads, const Tokens* first_positions) const {
  Var<T> y = x;
  if (norm) {
    const Shape& shape = x.shape();
    y = reshape((*norm)(reshape(x, {shape[0], shape[1], num_heads, shape[2] / num_heads})), shape);
  }
  if (!rotary) return y;
  return first_positions ? rotary_embedding(y, num_heads, *first_positions, *rotary)
                         : rotary_embedding(y, num_heads, *rotary);
}

template <class T>
Var<T> MultiHeadAttention<T>::operator()(const Var<T>& queries, const Var<T>& keys,
                                         const Var<T>& values, const Mask& mask,
                                         const std::optional<Var<T>>& position_bias) const {
  check_sequences("MultiHeadAttention: queries", queries.shape(), W_q.in_features());
  check_sequences("MultiHeadAttention: keys", keys.shape(), W_k.in_features());
  check_sequences("MultiHeadAttention: values", values.shape(), W_v.in_features());
  const Index batch = queries.shape()[0], num_keys = keys.shape()[1];
  if (keys.shape()[0] != batch || values.shape()[0] != batch || values.shape()[1] != num_keys)
    fail<ShapeError>(
        "MultiHeadAttention", "equal batch sizes, and as many values as keys",
        str_cat("queries ", queries.shape(), ", keys ", keys.shape(), ", values ", values.shape()));
  const Index heads = attention.num_heads, num_queries = queries.shape()[1];
  const Mask in_window = within_window(mask, window);
  const MaskView view("MultiHeadAttention", in_window, batch, heads, num_queries, num_keys);
  const HiddenKeys hidden(view);
  const Var<T> k = placed(W_k(hidden.zeroed(keys)), k_norm, num_kv_heads_, nullptr);
  const Var<T> v = W_v(hidden.zeroed(values));
  const Var<T> q = placed(W_q(visible_queries(view, queries, keys)), q_norm, heads, nullptr);
  return W_o(attention(q, shared_by_queries(k, num_kv_heads_, heads),
                       shared_by_queries(v, num_kv_heads_, heads), in_window, position_bias));
}

template <class T>
Var<T> MultiHeadAttention<T>::without_hidden(const Var<T>& x, const Mask& mask) const {
  check_sequences("MultiHeadAttention: queries", x.shape(), W_q.in_features());
  // Without these parts of a mask, each position attends to itself.
  if (!mask.valid_lens.given() && mask.keys.empty() && mask.allowed.empty() && mask.bias.empty())
    return x;
  const Index batch = x.shape()[0], time = x.shape()[1];
  const MaskView view("MultiHeadAttention", mask, batch, attention.num_heads, time, time);
  return HiddenKeys(view).zeroed(x);
}

template <class T>
KeyValueCacheOptions MultiHeadAttention<T>::cache_options(Index num_layers, Index capacity) const {
  return {.num_layers = num_layers,
          .num_heads = num_kv_heads_,
          .head_size = W_q.out_features() / attention.num_heads,
          .capacity = capacity};
}

template <class T>
void MultiHeadAttention<T>::check_cache(const CachedLayer<T>& layer) const {
  const auto sizes = [](const KeyValueCacheOptions& options) {
    return str_cat(options.num_heads, " heads of size ", options.head_size);
  };
  const KeyValueCacheOptions expected = cache_options(1, 1), got = layer.cache.options();
  if (got.num_heads != expected.num_heads || got.head_size != expected.head_size)
    fail<ValueError>("MultiHeadAttention: cache", sizes(expected), sizes(got));
  if (layer.index < 0 || layer.index >= got.num_layers)
    fail<ValueError>("MultiHeadAttention: layer of the cache",
                     str_cat("a value from 0 to ", got.num_layers - 1), layer.index);
}

template <class T>
Var<T> MultiHeadAttention<T>::extend(const Var<T>& x, const CachedLayer<T>& layer,
                                     const std::optional<Var<T>>& position_bias) const {
  check_sequences("MultiHeadAttention: new positions", x.shape(), W_q.in_features());
  check_cache(layer);
  KeyValueCache<T>& cache = layer.cache;
  const Index heads = attention.num_heads;
  const Tokens positions = cache.next_positions(x.tape(), 1).reshaped({cache.num_sequences()});
  const Var<T> q = placed(W_q(x), q_norm, heads, &positions);
  const Var<T> k = placed(W_k(x), k_norm, num_kv_heads_, &positions), v = W_v(x);
  cache.store(layer.index, k, v);
  if (cache.largest_length() > 0)
    return W_o(cached_attention(attention, q, layer, CachedKeys::stored, window, position_bias));
  return W_o(attention(q, shared_by_queries(k, num_kv_heads_, heads),
                       shared_by_queries(v, num_kv_heads_, heads),
                       within_window({.causal = true}, window), position_bias));
}

template <class T>
void MultiHeadAttention<T>::store(const Var<T>& memory, const CachedLayer<T>& layer) const {
  check_sequences("MultiHeadAttention: memory", memory.shape(), W_k.in_features());
  check_cache(layer);
  if (rotary)
    fail<ValueError>("MultiHeadAttention: cross-attention", "no rotary positions",
                     str_cat("rotary positions with base ", rotary->base));
  layer.cache.store(layer.index, W_k(memory), W_v(memory));
}

template <class T>
Var<T> MultiHeadAttention<T>::attend(const Var<T>& queries, const CachedLayer<T>& layer) const {
  check_sequences("MultiHeadAttention: queries", queries.shape(), W_q.in_features());
  check_cache(layer);
  return W_o(cached_attention(attention, W_q(queries), layer, CachedKeys::all));
}

template <class T>
void MultiHeadAttention<T>::members(Members<T>& members) const {
  std::string arguments = rotary ? "rotary_base=" + python_text(rotary->base) : std::string();
  if (num_kv_heads_ != attention.num_heads)
    arguments += str_cat(arguments.empty() ? "" : ", ", "num_kv_heads=", num_kv_heads_);
  members.type("MultiHeadAttention", arguments);
  members("attention", attention);
  members("W_q", W_q);
  members("W_k", W_k);
  members("W_v", W_v);
  members("W_o", W_o);
  members("q_norm", q_norm);
  members("k_norm", k_norm);
}

template struct MultiHeadAttention<float>;
template struct MultiHeadAttention<double>;

}  // namespace weft
