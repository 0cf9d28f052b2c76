// search: beam search over the outputs of an EncoderDecoder.
#pragma once

#include <span>
#include <vector>

#include <weft/train/generation/beam_search.hpp>
#include "examples/common/encoder_decoder.hpp"

namespace weft::examples {

struct SearchOptions {
  Index beam_width = 1;
  // Hypotheses per source, at most beam_width.
  Index n_best = 1;
};

// For each source its hypotheses, best first, each of at most the model's max_length tokens.
// Batches are of sources of similar lengths. Throws ValueError for options that are invalid for
// `beam_search`.
std::vector<std::vector<Hypothesis>> search(const EncoderDecoder<float>& model,
                                            std::span<const Sequence> sources,
                                            const SearchOptions& options = {});

}  // namespace weft::examples
