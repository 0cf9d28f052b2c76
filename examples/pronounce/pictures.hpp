// Pictures of a training and of a model's attention.
#pragma once

#include <filesystem>
#include <string>

#include "examples/pronounce/saved_model.hpp"

namespace weft::pronounce {

// Draws the losses in a trainer's metrics.csv over the epochs. Returns what `examples::draw` says.
// Throws FileError when the file cannot be read.
std::string draw_losses(const std::filesystem::path& metrics, const std::filesystem::path& picture);

// Draws, for each head of each block of the decoder, how much each phone of the greedy answer
// attends to each letter of `word`. Returns what `examples::draw` says. Throws ValueError when the
// word cannot be read.
std::string draw_attention(const SavedModel& saved, const std::string& word,
                           const std::filesystem::path& picture);

}  // namespace weft::pronounce
