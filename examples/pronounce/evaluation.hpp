// The error rates of a model.
#pragma once

#include <span>

#include <weft/train/text/generation/encoder_decoder_search.hpp>
#include "examples/pronounce/error_rates.hpp"
#include "examples/pronounce/language.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {

// Returns the error rates of the best hypothesis for each word. A word that cannot be encoded
// counts as an empty prediction.
ErrorRates error_rates(const Pronouncer<float>& model, const Language& language,
                       std::span<const Entry> entries,
                       const BeamSearchOptions& options = {.beam_width = 1});

}  // namespace weft::pronounce
