// The steps of a tokenizer.json before its model: changes of a text, and its division into words.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weft {

// Changes a text.
using Normalizer = std::function<std::string(std::string_view)>;
// Throws ValueError for a description that is none. Null gives a normalizer that is empty.
Normalizer make_normalizer(const nlohmann::json& description);

// Calls `use` with each word of a text, in their order. `is_first` says whether the text is the
// beginning of the whole one.
using WordUse = std::function<void(std::string_view word, bool is_first)>;
using PreTokenizer = std::function<void(std::string_view text, bool is_first, const WordUse& use)>;
// The same. A null description gives the text as one word.
PreTokenizer make_pre_tokenizer(const nlohmann::json& description);
// Whether the words' bytes are written as GPT-2's letters in the vocabulary.
bool has_byte_letters(const nlohmann::json& pre_tokenizer);

}  // namespace weft
