// Losses of whole models on their batches.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/train/data/pairs.hpp"

namespace weft {

// The cross entropy of the batch's labels, a scalar. Throws what the model and `cross_entropy`
// throw.
template <class T>
WEFT_API Var<T> batch_loss(const EncoderDecoder<T>& model, Tape<T>& tape, const PairBatch& batch,
                           const CrossEntropyOptions& options = {});

extern template Var<float> batch_loss(const EncoderDecoder<float>&, Tape<float>&, const PairBatch&,
                                      const CrossEntropyOptions&);
extern template Var<double> batch_loss(const EncoderDecoder<double>&, Tape<double>&,
                                       const PairBatch&, const CrossEntropyOptions&);

}  // namespace weft
