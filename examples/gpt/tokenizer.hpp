// The tokenizer of a language model, and the tokens at the beginning of a text.
#pragma once

#include <filesystem>

#include <weft/train/text/tokenizers/tokenizer.hpp>

namespace weft::gpt {

// Returns the tokenizer in a checkpoint of `gpt train`. Throws FileError if the checkpoint has no
// tokenizer.
Tokenizer tokenizer_of(const std::filesystem::path& checkpoint);

// Returns the tokens to start a new text with: the end-of-text token, the special tokens at the
// beginning of an input, or a line break. Throws ValueError if the model has none of them.
TokenIds beginning_of_text(const Tokenizer& tokenizer);

}  // namespace weft::gpt
