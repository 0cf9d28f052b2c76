#include "train/tokenizers/internal/added_tokens.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

// Where the character before a position begins.
std::size_t character_before(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && !starts_character(text[at]));
  return at;
}

bool is_word_character(std::string_view text, std::size_t at) {
  const char32_t code = unicode::next_code_point(text, at);
  return unicode::is_letter(code) || unicode::is_number(code) || code == U'_';
}

bool is_space_at(std::string_view text, std::size_t at) {
  return unicode::is_space(unicode::next_code_point(text, at));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::ranges::stable_sort(tokens_, std::greater<>(),
                           [](const AddedToken& token) { return token.text.size(); });
  for (const AddedToken& token : tokens_) {
    if (token.text.empty()) fail<ValueError>("added_tokens", "tokens that are not empty", "''");
    if (first_bytes_.find(token.text.front()) == std::string::npos)
      first_bytes_ += token.text.front();
  }
}

AddedTokens::Found AddedTokens::find(std::string_view text, std::size_t begin) const {
  if (tokens_.empty()) return {text.size(), text.size(), {}};
  for (std::size_t at = text.find_first_of(first_bytes_, begin); at < text.size();
       at = text.find_first_of(first_bytes_, at + 1))
    for (const AddedToken& token : tokens_) {
      if (!text.substr(at).starts_with(token.text)) continue;
      Found found{at, at + token.text.size(), token.id};
      if (token.is_whole_word && ((at > 0 && is_word_character(text, character_before(text, at))) ||
                                  (found.end < text.size() && is_word_character(text, found.end))))
        continue;
      while (token.takes_left && found.begin > begin &&
             is_space_at(text, character_before(text, found.begin)))
        found.begin = character_before(text, found.begin);
      while (token.takes_right && found.end < text.size() && is_space_at(text, found.end))
        unicode::next_code_point(text, found.end);
      return found;
    }
  return {text.size(), text.size(), {}};
}

}  // namespace weft
