// Beam search and greedy search with an EncoderDecoder.
#pragma once

#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/encoder_decoder.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/text/generation/beam_search.hpp"

namespace weft {

// Returns the hypotheses of each source, best first. A hypothesis has at most min(options.max_len,
// model.max_len) tokens. Sources of similar lengths are searched in batches. Throws ValueError for
// options outside their ranges, and any exception that the model throws for a source.
//   const auto hypotheses = beam_search(translator, sources, {.beam_width = 4});
template <class T>
WEFT_API std::vector<std::vector<Hypothesis>> beam_search(const EncoderDecoder<T>& model,
                                                          std::span<const TokenIds> sources,
                                                          const BeamSearchOptions& options = {});

// Returns the sequence of the most probable next tokens for each source: beam search with width 1.
// Throws the same exceptions as `beam_search`.
template <class T>
WEFT_API std::vector<Hypothesis> greedy_search(const EncoderDecoder<T>& model,
                                               std::span<const TokenIds> sources,
                                               BeamSearchOptions options = {});

}  // namespace weft
