// learn_merges: learns a vocabulary of byte pairs from a text.
#pragma once

#include <string_view>
#include <vector>

#include "train/tokenizers/internal/token_files.hpp"

namespace weft::byte_pairs {

// Merges the most frequent pair of tokens within words, in case of a tie that of the lower ids,
// until there are `size` tokens or no pair occurs twice. The first tokens are the bytes, in the
// order of their letters. `parts` are texts in valid UTF-8.
NamedTokens learn_merges(const std::vector<std::string_view>& parts, std::size_t size);

}  // namespace weft::byte_pairs
