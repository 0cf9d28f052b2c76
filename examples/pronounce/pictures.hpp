// Plots of training losses and of attention weights.
#pragma once

#include <filesystem>
#include <string>

#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {

// Draws the losses in a trainer's metrics.csv over the steps. Returns the status message of
// `examples::draw`. Throws FileError when the file cannot be read or has cells that are no numbers.
std::string draw_losses(const std::filesystem::path& metrics, const std::filesystem::path& picture);

// Draws, for each head of each decoder block, the attention weights of each phone of the greedy
// output over the letters of `word`. Returns the status message of `examples::draw`. Throws
// ValueError when the word cannot be encoded.
std::string draw_attention(const SavedModel& saved, const std::string& word,
                           const std::filesystem::path& picture);

}  // namespace weft::pronounce
