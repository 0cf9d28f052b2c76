// What training and searching need of an EncoderDecoder: the loss of a batch, and beam search.
#pragma once

#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/train/data/pairs.hpp"
#include "weft/train/generation/beam_search.hpp"

namespace weft {

// The cross entropy of the batch's labels, a scalar.
template <class T>
WEFT_API Var<T> batch_loss(const EncoderDecoder<T>& model, Tape<T>& tape, const PairBatch& batch,
                           double label_smoothing = 0.0);

// For each source its hypotheses, best first, each of at most as many tokens as the model's and the
// options' max_length. Searches batches of sources of similar lengths. Throws ValueError for
// options outside their ranges, and what the model throws for a source.
template <class T>
WEFT_API std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<T>& model,
                                                          std::span<const Sequence> sources,
                                                          const BeamSearchOptions& options = {});

// For each source its sequence of the most probable next tokens: beam search with width 1.
template <class T>
WEFT_API std::vector<Hypothesis> greedy_search(const EncoderDecoder<T>& model,
                                               std::span<const Sequence> sources,
                                               BeamSearchOptions options = {});

extern template Var<float> batch_loss(const EncoderDecoder<float>&, Tape<float>&, const PairBatch&,
                                      double);
extern template Var<double> batch_loss(const EncoderDecoder<double>&, Tape<double>&,
                                       const PairBatch&, double);
extern template std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<float>&,
                                                                 std::span<const Sequence>,
                                                                 const BeamSearchOptions&);
extern template std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<double>&,
                                                                 std::span<const Sequence>,
                                                                 const BeamSearchOptions&);

extern template std::vector<Hypothesis> greedy_search(const EncoderDecoder<float>&,
                                                      std::span<const Sequence>, BeamSearchOptions);
extern template std::vector<Hypothesis> greedy_search(const EncoderDecoder<double>&,
                                                      std::span<const Sequence>, BeamSearchOptions);

}  // namespace weft
