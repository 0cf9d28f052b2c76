// AddedTokens: tokens at which a text is split before it is divided into words.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "train/text/tokenizers/internal/token_tree.hpp"

namespace weft {

// A token at which a text is split.
struct AddedToken {
  std::string text;
  TokenId id;
  // Whether it matches only as a whole word, and whether it includes the spaces before and after
  // it.
  bool is_whole_word = false, takes_left = false, takes_right = false;
};

class AddedTokens {
 public:
  // Adds a token. Throws ValueError for an empty token, and for a token whose text belongs to
  // another token already.
  void add(const AddedToken& token);

  // Calls `use` with each part of a text between tokens, and appends the ids of the tokens in
  // between. If several tokens match at a position, the longest one is used.
  template <class Use>
  void divide(std::string_view text, TextBudget& budget, TokenIds& ids, const Use& use) const {
    std::size_t rest = 0;
    const auto use_until = [&](std::size_t end) {
      if (rest < end) use(text.substr(rest, end - rest), rest == 0);
    };
    for (std::size_t at = 0; const std::optional<Found> found = find(text, rest, at, budget);) {
      use_until(found->begin);
      if (found->begin < found->end) ids.push_back(found->id);
      rest = found->end;
    }
    use_until(text.size());
  }

 private:
  // A matching token, and the part of the text that it includes.
  struct Found {
    std::size_t begin, end;
    TokenId id;
  };
  // Finds the first token from `at` on, and sets `at` to its end. Spaces that the token includes on
  // its left begin at `rest` or later. Spaces that it includes on its right may belong to a further
  // token, too.
  std::optional<Found> find(std::string_view text, std::size_t rest, std::size_t& at,
                            TextBudget& budget) const;

  TokenTree tree_;
  std::unordered_map<TokenId, AddedToken> tokens_;
  std::string first_bytes_;
};

}  // namespace weft
