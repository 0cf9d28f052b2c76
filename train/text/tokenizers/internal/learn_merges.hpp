// learn_merges: learns a vocabulary of byte pairs from a text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::byte_pairs {

// The names of tokens in the order of their ids, and the merged pairs, the earliest first.
struct NamedTokens {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> merges;
};

// Merges the most frequent pair of tokens within words (of equally frequent pairs, the pair with
// lower ids) until there are `size` tokens or no pair occurs twice. The first tokens are the bytes,
// in the order of their letters. `parts` must be valid UTF-8.
NamedTokens learn_merges(const std::vector<std::string_view>& parts, std::size_t size);

}  // namespace weft::byte_pairs
