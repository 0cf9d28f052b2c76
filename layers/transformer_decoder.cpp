#include "weft/layers/transformer_decoder.hpp"

#include "layers/internal/python_text.hpp"

namespace weft {

template <class T>
TransformerDecoderBlock<T>::TransformerDecoderBlock(const TransformerOptions& options,
                                                    Random& random)
    : self_attention(options.self_attention(), random),
      norm1(options.make_norm<T>()),
      cross_attention(options.cross_attention(), random),
      norm2(options.make_norm<T>()),
      ffn(options.make_feed_forward<T>(random)),
      norm3(options.make_norm<T>()),
      dropout(options.dropout),
      norm_first(options.norm_first) {}

template <class T>
template <class AttendToSelf, class AttendToMemory>
Var<T> TransformerDecoderBlock<T>::apply(const Var<T>& x, const AttendToSelf& attend_to_self,
                                         const AttendToMemory& attend_to_memory) const {
  Var<T> y = add_residual(x, norm1, dropout, norm_first, attend_to_self);
  y = add_residual(y, norm2, dropout, norm_first, attend_to_memory);
  return add_residual(y, norm3, dropout, norm_first, ffn);
}

template <class T>
Var<T> TransformerDecoderBlock<T>::operator()(const Var<T>& x, const Var<T>& memory,
                                              const Mask& memory_mask, const Mask& target_mask,
                                              const std::optional<Var<T>>& position_bias) const {
  Mask self_mask = target_mask;
  self_mask.causal = true;
  const auto attend_to_self = [&](const Var<T>& y) {
    return self_attention(y, y, y, self_mask, position_bias);
  };
  const auto attend_to_memory = [&](const Var<T>& y) {
    return cross_attention(y, memory, memory, memory_mask);
  };
  return apply(self_attention.without_hidden(x, self_mask), attend_to_self, attend_to_memory);
}

template <class T>
Var<T> TransformerDecoderBlock<T>::extend(const Var<T>& x, const CachedLayer<T>& self,
                                          const CachedLayer<T>& cross,
                                          const std::optional<Var<T>>& position_bias) const {
  const auto attend_to_self = [&](const Var<T>& y) {
    return self_attention.extend(y, self, position_bias);
  };
  const auto attend_to_memory = [&](const Var<T>& y) { return cross_attention.attend(y, cross); };
  return apply(x, attend_to_self, attend_to_memory);
}

template <class T>
void TransformerDecoderBlock<T>::members(Members<T>& members) const {
  members.type("TransformerDecoderBlock", "norm_first=" + python_text(norm_first));
  members("self_attention", self_attention);
  members("norm1", norm1);
  members("cross_attention", cross_attention);
  members("norm2", norm2);
  members("ffn", ffn);
  members("norm3", norm3);
  members("dropout", dropout);
}

namespace {

TransformerOptions of_decoder(TransformerOptions options) {
  if (options.position_bias) options.position_bias->bidirectional = false;
  return options;
}

}  // namespace

template <class T>
TransformerDecoder<T>::TransformerDecoder(const TransformerOptions& options, Random& random)
    : BlockStack<T, TransformerDecoderBlock<T>>("TransformerDecoder", of_decoder(options), random) {
}

template <class T>
Var<T> TransformerDecoder<T>::operator()(const Var<T>& x, const Var<T>& memory,
                                         const Mask& memory_mask, const Mask& target_mask) const {
  const auto call = [memory_mask, target_mask](const auto& block, const Var<T>& y,
                                               const Var<T>& encoded, const auto&... bias) {
    return block(y, encoded, memory_mask, target_mask, bias...);
  };
  return this->apply(x, call, memory);
}

template <class T>
DecoderCache<T> TransformerDecoder<T>::start(const Var<T>& memory, const ValidLens& memory_lens,
                                             Index capacity) const {
  const char* const what = "TransformerDecoder: memory";
  if (memory.rank() != 3) fail<ShapeError>(what, "shape [batch, time, channels]", memory.shape());
  const Index batch = memory.shape()[0], time = memory.shape()[1];
  memory_lens.check(what, batch, 1, time);
  std::vector<Index> lengths;
  for (Index i = 0; i < batch; ++i) lengths.push_back(memory_lens.length(i, 0, time));
  const auto cache = [&](const MultiHeadAttention<T>& attention, Index positions) {
    return KeyValueCache<T>(attention.cache_options(std::ssize(this->blocks), positions), batch);
  };
  DecoderCache<T> result{cache(this->blocks.front().self_attention, capacity),
                         cache(this->blocks.front().cross_attention, std::max<Index>(time, 1))};
  for (Index i = 0; const TransformerDecoderBlock<T>& block : this->blocks)
    block.cross_attention.store(memory, {result.cross, i++});
  result.cross.advance(lengths);
  return result;
}

template <class T>
Var<T> TransformerDecoder<T>::extend(const Var<T>& x, DecoderCache<T>& cache) const {
  return this->extend_blocks(x, cache.self, cache.cross);
}

template struct TransformerDecoderBlock<float>;
template struct TransformerDecoderBlock<double>;
template struct TransformerDecoder<float>;
template struct TransformerDecoder<double>;

}  // namespace weft
