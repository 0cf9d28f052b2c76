// gpt_options: the options of a model in a config.json.
#pragma once

#include <filesystem>

#include <weft/layers/models/gpt.hpp>

namespace weft::gpt {

// Reads a config.json with the names of Hugging Face's GPT2Config; "block_size" and "bias" are
// nanoGPT's. Throws FileError for a file that is none, a setting that is missing or of another
// type, ValueError for an unknown activation, and FileError for variants of the model that Gpt does
// not have.
GptOptions gpt_options(const std::filesystem::path& config);

}  // namespace weft::gpt
