#include "train/text/tokenizers/internal/added_tokens.hpp"

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

// Returns the start of the character before a position.
std::size_t character_before(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && !starts_character(text[at]));
  return at;
}

using Predicate = bool (*)(char32_t);

bool is_at(Predicate predicate, std::string_view text, std::size_t at) {
  return at < text.size() && predicate(unicode::next_code_point(text, at));
}

bool is_before(Predicate predicate, std::string_view text, std::size_t at) {
  return at > 0 && is_at(predicate, text, character_before(text, at));
}

}  // namespace

void AddedTokens::add(const AddedToken& token) {
  if (token.text.empty()) fail<ValueError>("added_tokens", "nonempty tokens", "''");
  // If several tokens have the same text, Hugging Face's library chooses one of them at random.
  if (const std::optional<TokenId> other = tree_.add(token.text, token.id);
      other && *other != token.id)
    fail<ValueError>("added_tokens", "tokens that differ after normalization",
                     str_cat("ids ", *other, " and ", token.id, " for '", token.text, '\''));
  tokens_[token.id] = token;
  if (first_bytes_.find(token.text.front()) == std::string::npos)
    first_bytes_ += token.text.front();
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, std::size_t rest,
                                                    std::size_t& at, TextBudget& budget) const {
  while ((at = text.find_first_of(first_bytes_, at)) < text.size()) {
    const auto [size, id] = tree_.longest(text.substr(at), budget);
    Found found{at, at + size, id.value_or(0)};
    at += id ? size : 1;
    if (!id) continue;
    const AddedToken& token = tokens_.at(*id);
    if (token.is_whole_word && (is_before(unicode::is_in_word, text, found.begin) ||
                                is_at(unicode::is_in_word, text, found.end)))
      continue;
    if (token.takes_left && found.begin > rest)
      found.begin = rest + unicode::end_without_spaces(text.substr(rest, found.begin - rest));
    else if (token.takes_left)
      found.begin = rest;
    while (token.takes_right && is_at(unicode::is_space, text, found.end))
      unicode::next_code_point(text, found.end);
    return found;
  }
  return std::nullopt;
}

}  // namespace weft
