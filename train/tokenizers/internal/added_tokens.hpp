// AddedTokens: tokens that a text is divided at before its words are found.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "train/tokenizers/internal/token_tree.hpp"

namespace weft {

struct AddedToken {
  std::string text;
  TokenId id;
  // Whether letters and digits may not be beside it, and whether it takes the spaces beside it.
  bool is_whole_word = false, takes_left = false, takes_right = false;
};

class AddedTokens {
 public:
  // Throws ValueError for an empty text.
  void add(const AddedToken& token);

  // Calls `use` with each part of a text between tokens, and appends the tokens' ids in between. Of
  // several tokens at a place, the longest one is found.
  template <class Use>
  void divide(std::string_view text, Sequence& ids, const Use& use) const {
    for (std::size_t begin = 0;;) {
      const Found found = find(text, begin);
      if (found.begin > begin) use(text.substr(begin, found.begin - begin), begin == 0);
      if (!found.id) return;
      ids.push_back(*found.id);
      begin = found.end;
    }
  }

 private:
  // Where the first token from a position on is; the end of the text without one.
  struct Found {
    std::size_t begin, end;
    std::optional<TokenId> id;
  };
  Found find(std::string_view text, std::size_t begin) const;

  TokenTree tree_;
  std::unordered_map<TokenId, AddedToken> tokens_;
  std::string first_bytes_;
};

}  // namespace weft
