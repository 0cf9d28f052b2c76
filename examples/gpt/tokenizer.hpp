// Tokens of language models: where they are in checkpoints, and what a text begins with.
#pragma once

#include <filesystem>

#include <weft/train/text/tokenizers/tokenizer.hpp>

namespace weft::gpt {

// Returns the tokenizer in a checkpoint of `gpt train`. Throws FileError if there is none.
Tokenizer tokenizer_of(const std::filesystem::path& checkpoint);

// Returns what stands before a text: the end of the previous one, or a line break. Throws
// ValueError if the model knows neither.
TokenIds beginning_of_text(const Tokenizer& tokenizer);

}  // namespace weft::gpt
