// Attention maps: what an EncoderDecoder looks at while it writes.
#pragma once

#include <vector>

#include "examples/common/encoder_decoder.hpp"
#include "examples/common/plot.hpp"

namespace weft::examples {

// For each head of each block of the decoder, how much each token of `answer`, and <eos> after it
// (rows), attends to each token of `source` (columns).
std::vector<HeatMap> cross_attention_maps(const EncoderDecoder<float>& model,
                                          const Sequence& source, const Sequence& answer);

}  // namespace weft::examples
