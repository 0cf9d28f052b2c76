// learn_merges: learns a vocabulary of byte pairs from a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "train/tokenizers/internal/merges.hpp"

namespace weft::byte_pairs {

struct LearnedMerge {
  TokenPair pair;
  TokenId result;
};

struct LearnedTokens {
  // First the bytes, in the order of their letters, then the results of merges.
  std::vector<std::string> tokens;
  std::vector<LearnedMerge> merges;
};

// Merges the most frequent pair of tokens within words, in case of a tie that of the lower ids,
// until there are `size` tokens or no pair occurs twice. `parts` are texts in valid UTF-8.
LearnedTokens learn_merges(const std::vector<std::string_view>& parts, std::size_t size);

}  // namespace weft::byte_pairs
