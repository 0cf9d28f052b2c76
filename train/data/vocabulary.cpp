#include "weft/train/data/vocabulary.hpp"

#include <algorithm>
#include <set>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

std::string escaped(const std::string& symbol) {
  std::string text;
  for (const char c : symbol)
    if (c == '\n')
      text += "\\n";
    else
      text += c == '\\' ? "\\\\" : std::string(1, c);
  return text;
}

std::string unescaped(const std::string& text) {
  std::string symbol;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      symbol += text[i];
      continue;
    }
    const char next = ++i < text.size() ? text[i] : '\0';
    if (next != 'n' && next != '\\')
      fail<ValueError>("vocabulary", "backslashes only in '\\n' and '\\\\'", "'" + text + "'");
    symbol += next == 'n' ? '\n' : '\\';
  }
  return symbol;
}

}  // namespace

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

Vocabulary Vocabulary::plain(const std::vector<std::string>& symbols) {
  Vocabulary vocabulary(Empty{}, true);
  for (const std::string& symbol : symbols) vocabulary.add(symbol);
  return vocabulary;
}

Vocabulary Vocabulary::of_labels(std::span<const std::string> labels) {
  const std::set<std::string> symbols(labels.begin(), labels.end());
  return plain({symbols.begin(), symbols.end()});
}

Vocabulary Vocabulary::of_characters(std::string_view text) {
  return of_labels(utf8_characters(text, "vocabulary"));
}

void Vocabulary::add(const std::string& symbol) {
  if (symbol.empty()) fail<ValueError>("vocabulary", "nonempty symbols", "an empty symbol");
  if (!ids_.emplace(symbol, static_cast<TokenId>(size())).second)
    fail<ValueError>(
        "vocabulary",
        plain_ ? "distinct symbols" : "distinct symbols other than the special symbols",
        "'" + symbol + "' twice");
  symbols_.push_back(symbol);
}

TokenId Vocabulary::id(std::string_view symbol) const {
  const auto found = ids_.find(symbol);
  if (found != ids_.end()) return found->second;
  if (plain_)
    fail<ValueError>("vocabulary", str_cat("one of the ", size(), " symbols"),
                     str_cat("'", symbol, "'"));
  return unk;
}

bool Vocabulary::contains(std::string_view symbol) const { return ids_.find(symbol) != ids_.end(); }

const std::string& Vocabulary::symbol(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("vocabulary", "an id from " + index_range(size()), id);
  return symbols_[static_cast<std::size_t>(id)];
}

TokenIds Vocabulary::encode(std::span<const std::string> symbols) const {
  TokenIds ids;
  ids.reserve(symbols.size());
  for (const std::string& symbol : symbols) ids.push_back(id(symbol));
  return ids;
}

std::vector<std::string> Vocabulary::decode(std::span<const TokenId> ids) const {
  std::vector<std::string> symbols;
  for (TokenId id : ids) {
    if (!plain_ && id == eos) break;
    if (plain_ || (id != pad && id != bos)) symbols.push_back(symbol(id));
  }
  return symbols;
}

TokenIds Vocabulary::encode_text(std::string_view text) const {
  return encode(utf8_characters(text, "vocabulary"));
}

std::string Vocabulary::decode_text(std::span<const TokenId> ids) const {
  std::string text;
  for (const std::string& symbol : decode(ids)) text += symbol;
  return text;
}

std::string Vocabulary::to_text() const {
  const auto symbols = std::span(symbols_).subspan(plain_ ? 0 : num_specials);
  const bool escapes = plain_ || std::ranges::any_of(symbols, [](const std::string& symbol) {
                         return symbol.find('\n') != symbol.npos;
                       });
  std::string text = escapes ? (plain_ ? "\nplain\n" : "\nspecial\n") : "";
  for (const std::string& symbol : symbols) text += (escapes ? escaped(symbol) : symbol) + "\n";
  return text;
}

Vocabulary Vocabulary::from_text(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines.size() < 2 || !lines[0].empty()) return Vocabulary(lines);
  if (lines[1] != "plain" && lines[1] != "special")
    fail<ValueError>("vocabulary", "'plain' or 'special' in line 2", "'" + lines[1] + "'");
  const bool is_plain = lines[1] == "plain";
  lines.erase(lines.begin(), lines.begin() + 2);
  for (std::string& line : lines) line = unescaped(line);
  return is_plain ? plain(lines) : Vocabulary(lines);
}

}  // namespace weft
