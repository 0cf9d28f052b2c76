// Losses of whole models on their batches.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/train/data/pairs.hpp"

namespace weft {

// Returns the cross entropy of the model's logits and the batch's labels, a scalar. Throws the same
// exceptions as the model and `cross_entropy`.
//   Var loss = batch_loss(translator, tape, pairs.batch(0, 0), {.label_smoothing = 0.1});
template <class T>
WEFT_API Var<T> batch_loss(const EncoderDecoder<T>& model, Tape<T>& tape, const PairBatch& batch,
                           const CrossEntropyOptions& options = {});

}  // namespace weft
