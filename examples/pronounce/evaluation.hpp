// Evaluation: how well a model does on words of a dictionary.
#pragma once

#include <span>

#include "examples/common/search.hpp"
#include "examples/pronounce/error_rates.hpp"
#include "examples/pronounce/language.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {

// The errors of the best answer for each word. A word with a letter that the language does not have
// counts as answered with nothing.
ErrorRates error_rates(const Pronouncer<float>& model, const Language& language,
                       std::span<const Entry> entries, const examples::SearchOptions& options = {});

// The cross entropy a label, without smoothing, over one epoch of batches.
double mean_loss(const Pronouncer<float>& model, BatchSource& batches);

}  // namespace weft::pronounce
