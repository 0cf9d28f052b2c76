// The steps of a tokenizer.json before its model: normalizers and pre-tokenizers.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "train/text/tokenizers/internal/text_budget.hpp"
#include "train/text/tokenizers/internal/text_pattern.hpp"

namespace weft {

// The state that all steps of one text share.
struct TextPass {
  explicit TextPass(std::size_t bytes) : budget(bytes) {}

  TextBudget budget;
  // False once a normalizer has removed the first character of the text.
  bool keeps_beginning = true;
  // Whether a Replace has inserted something before the first character.
  bool inserts_before = false;
};

// A function that changes a text.
using Normalizer = std::function<std::string(std::string_view, TextPass&)>;
// Creates a normalizer from its description; for null, an empty function. Throws ValueError for an
// invalid description.
Normalizer make_normalizer(const nlohmann::json& description);

// A function that calls `use` with each word of a text, in order. `is_first` tells whether the text
// is the beginning of the whole text.
using WordUse = std::function<void(std::string_view word, bool is_first)>;
using PreTokenizer =
    std::function<void(std::string_view text, bool is_first, TextPass&, const WordUse& use)>;
// Creates a pre-tokenizer from its description; for null, one that takes the text as one word.
// Throws ValueError for an invalid description. With `keeps_bytes`, the last step leaves the bytes
// of words as they are instead of writing them as GPT-2's letters.
PreTokenizer make_pre_tokenizer(const nlohmann::json& description, bool keeps_bytes);
// Returns whether the last step, and no other, writes bytes as GPT-2's letters.
bool ends_with_byte_letters(const nlohmann::json& pre_tokenizer);

// Returns the pattern of a Replace or a Split: {"String": …} or {"Regex": …}.
TextPattern pattern_of(const nlohmann::json& description);
// Returns an entry of one character. Throws ValueError for other strings.
std::string character_in(const nlohmann::json& description, const char* name);
// Returns where a Metaspace adds its character: "always", "first" or "never".
std::string prepend_scheme(const nlohmann::json& description);

}  // namespace weft
