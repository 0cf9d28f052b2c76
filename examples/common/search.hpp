// Search: the most probable answers of an EncoderDecoder.
#pragma once

#include <span>
#include <vector>

#include <weft/train/generation/beam_search.hpp>
#include "examples/common/encoder_decoder.hpp"

namespace weft::examples {

struct SearchOptions {
  Index beam_width = 1;
  // Answers a source, at most beam_width.
  Index n_best = 1;
};

// For each source the answers found, best first, each of at most the model's max_length tokens.
// Sources of like length are searched together. Throws ValueError for options that `beam_search`
// does not take.
std::vector<std::vector<Hypothesis>> search(const EncoderDecoder<float>& model,
                                            std::span<const Sequence> sources,
                                            const SearchOptions& options = {});

}  // namespace weft::examples
