#include "weft/train/data/vocabulary.hpp"

#include <algorithm>
#include <set>

#include "weft/autograd/error.hpp"

namespace weft {

Vocabulary::Vocabulary() : Vocabulary(std::vector<std::string>{}) {}

Vocabulary::Vocabulary(const std::vector<std::string>& symbols) {
  for (const char* special : {"<pad>", "<bos>", "<eos>", "<unk>"}) add(special);
  for (const std::string& symbol : symbols) add(symbol);
}

Vocabulary Vocabulary::of(std::span<const std::vector<std::string>> texts) {
  std::set<std::string> symbols;
  for (const auto& text : texts) symbols.insert(text.begin(), text.end());
  return Vocabulary(std::vector<std::string>(symbols.begin(), symbols.end()));
}

void Vocabulary::add(const std::string& symbol) {
  if (symbol.empty() || symbol.find('\n') != std::string::npos)
    fail<ValueError>("vocabulary", "non-empty symbols without line breaks", "'" + symbol + "'");
  if (!ids_.emplace(symbol, static_cast<TokenId>(size())).second)
    fail<ValueError>("vocabulary", "each symbol once, and none of the special ones",
                     "'" + symbol + "' again");
  symbols_.push_back(symbol);
}

TokenId Vocabulary::id(std::string_view symbol) const {
  const auto found = ids_.find(symbol);
  return found == ids_.end() ? unk : found->second;
}

bool Vocabulary::contains(std::string_view symbol) const { return ids_.find(symbol) != ids_.end(); }

const std::string& Vocabulary::symbol(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("vocabulary", concatenate_text("an id of 0 to ", size() - 1), id);
  return symbols_[static_cast<std::size_t>(id)];
}

Sequence Vocabulary::encode(std::span<const std::string> symbols) const {
  Sequence ids;
  ids.reserve(symbols.size());
  for (const std::string& symbol : symbols) ids.push_back(id(symbol));
  return ids;
}

std::vector<std::string> Vocabulary::decode(std::span<const TokenId> ids) const {
  std::vector<std::string> symbols;
  for (TokenId id : ids) {
    if (id == eos) break;
    if (id != pad && id != bos) symbols.push_back(symbol(id));
  }
  return symbols;
}

std::string Vocabulary::to_text() const {
  std::string text;
  for (std::size_t i = num_specials; i < symbols_.size(); ++i) text += symbols_[i] + "\n";
  return text;
}

Vocabulary Vocabulary::from_text(std::string_view text) {
  std::vector<std::string> symbols;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    symbols.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return Vocabulary(symbols);
}

}  // namespace weft
