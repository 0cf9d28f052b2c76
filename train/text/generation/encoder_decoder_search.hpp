// Beam search and greedy search by an EncoderDecoder.
#pragma once

#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/text/generation/beam_search.hpp"

namespace weft {

// For each source its hypotheses, best first, each of at most as many tokens as the model's and the
// options' max_len. Searches batches of sources of similar lengths. Throws ValueError for
// options outside their ranges, and what the model throws for a source.
//   const auto hypotheses = beam_search(translator, sources, {.beam_width = 4});
template <class T>
WEFT_API std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<T>& model,
                                                          std::span<const TokenIds> sources,
                                                          const BeamSearchOptions& options = {});

// For each source its sequence of the most probable next tokens: beam search with width 1. Throws
// as it does.
template <class T>
WEFT_API std::vector<Hypothesis> greedy_search(const EncoderDecoder<T>& model,
                                               std::span<const TokenIds> sources,
                                               BeamSearchOptions options = {});

}  // namespace weft
