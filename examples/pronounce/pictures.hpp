// draw_attention: a plot of attention weights.
#pragma once

#include <filesystem>
#include <string>

#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {

// Draws, for each head of each decoder block, the attention weights of each phone of the greedy
// output over the letters of `word`. Returns the status message of `examples::draw`. Throws
// ValueError if the word cannot be encoded.
std::string draw_attention(const SavedModel& saved, const std::string& word,
                           const std::filesystem::path& picture);

}  // namespace weft::pronounce
