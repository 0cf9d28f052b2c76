#include "weft/train/losses.hpp"

namespace weft {

template <class T>
Var<T> batch_loss(const EncoderDecoder<T>& model, Tape<T>& tape, const PairBatch& batch,
                  const CrossEntropyOptions& options) {
  const Var<T> logits =
      model(tape, batch.source.tokens, batch.source.valid_lens, batch.target.tokens);
  return cross_entropy(logits, batch.labels, options);
}

template Var<float> batch_loss(const EncoderDecoder<float>&, Tape<float>&, const PairBatch&,
                               const CrossEntropyOptions&);
template Var<double> batch_loss(const EncoderDecoder<double>&, Tape<double>&, const PairBatch&,
                                const CrossEntropyOptions&);

}  // namespace weft
