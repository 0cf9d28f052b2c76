#include "weft/layers/transformer_encoder.hpp"

#include "layers/internal/python_text.hpp"

namespace weft {

template <class T>
TransformerEncoderBlock<T>::TransformerEncoderBlock(const TransformerOptions& options,
                                                    Random& random)
    : attention(options.self_attention(), random),
      norm1(options.make_norm<T>()),
      ffn(options.make_feed_forward<T>(random)),
      norm2(options.make_norm<T>()),
      dropout(options.dropout),
      norm_first(options.norm_first),
      parallel_residual(options.parallel_residual) {
  if (parallel_residual && !norm_first)
    fail<ValueError>("TransformerEncoderBlock: norm_first", "true with parallel_residual", "false");
}

template <class T>
template <class Attend>
Var<T> TransformerEncoderBlock<T>::apply(const Var<T>& x, const Attend& attend) const {
  if (parallel_residual) return x + dropout(attend(norm1(x))) + dropout(ffn(norm2(x)));
  return add_residual(add_residual(x, norm1, dropout, norm_first, attend), norm2, dropout,
                      norm_first, ffn);
}

template <class T>
Var<T> TransformerEncoderBlock<T>::operator()(const Var<T>& x, const Mask& mask,
                                              const std::optional<Var<T>>& position_bias) const {
  return apply(attention.without_hidden(x, mask),
               [&](const Var<T>& y) { return attention(y, y, y, mask, position_bias); });
}

template <class T>
Var<T> TransformerEncoderBlock<T>::extend(const Var<T>& x, const CachedLayer<T>& layer,
                                          const std::optional<Var<T>>& position_bias) const {
  return apply(x, [&](const Var<T>& y) { return attention.extend(y, layer, position_bias); });
}

template <class T>
void TransformerEncoderBlock<T>::members(Members<T>& members) const {
  members.type("TransformerEncoderBlock", "norm_first=" + python_text(norm_first));
  members("attention", attention);
  members("norm1", norm1);
  members("ffn", ffn);
  members("norm2", norm2);
  members("dropout", dropout);
}

template <class T>
TransformerEncoder<T>::TransformerEncoder(const TransformerOptions& options, Random& random)
    : BlockStack<T, TransformerEncoderBlock<T>>("TransformerEncoder", options, random) {}

template <class T>
Var<T> TransformerEncoder<T>::operator()(const Var<T>& x, const Mask& mask) const {
  const auto call = [mask](const auto& block, const Var<T>& y, const auto&... bias) {
    return block(y, mask, bias...);
  };
  return this->apply(x, call);
}

template <class T>
Var<T> TransformerEncoder<T>::extend(const Var<T>& x, KeyValueCache<T>& cache) const {
  return this->extend_blocks(x, cache);
}

template <class T>
KeyValueCache<T> TransformerEncoder<T>::make_cache(Index num_sequences, Index capacity) const {
  return KeyValueCache<T>(
      this->blocks.front().attention.cache_options(std::ssize(this->blocks), capacity),
      num_sequences);
}

template struct TransformerEncoderBlock<float>;
template struct TransformerEncoderBlock<double>;
template struct TransformerEncoder<float>;
template struct TransformerEncoder<double>;

}  // namespace weft
