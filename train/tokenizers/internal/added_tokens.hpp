// AddedTokens: tokens that a text is divided at before its words are found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/train/data/vocabulary.hpp"

namespace weft {

struct AddedToken {
  std::string text;
  TokenId id;
  // Whether letters and digits may not be beside it, and whether it takes the spaces beside it.
  bool is_whole_word = false, takes_left = false, takes_right = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  // Throws ValueError for an empty text.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // Where a token is in a text; the end of the text without an id where there is none.
  struct Found {
    std::size_t begin, end;
    std::optional<TokenId> id;
  };
  // The first one from a position on, of several the longest.
  Found find(std::string_view text, std::size_t begin) const;

 private:
  std::vector<AddedToken> tokens_;  // longest first
  std::string first_bytes_;
};

}  // namespace weft
