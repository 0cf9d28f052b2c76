// Vocabulary: the symbols of a language and their token ids.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// A sequence of token ids.
using TokenIds = std::vector<TokenId>;

// Token ids by the texts of the tokens, which are found without copying what is searched.
struct TextHash {
  using is_transparent = void;  // std::unordered_map's name for it
  // The hash of a text.
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
// The ids of tokens by their texts.
using TokenToId = std::unordered_map<std::string, TokenId, TextHash, std::equal_to<>>;

// Ids 0 to 3 are the special symbols <pad>, <bos>, <eos> and <unk>; the others follow in the order
// given. A plain vocabulary has no special symbols: its ids are 0, 1, … in the order given.
//   const Vocabulary characters = Vocabulary::of_characters("hello");  // e h l o
//   const TokenIds ids = characters.encode_text("hole");               // 1 3 2 0
class WEFT_API Vocabulary {
 public:
  static constexpr TokenId pad = 0;  // padding
  static constexpr TokenId bos = 1;  // the beginning of a sequence
  static constexpr TokenId eos = 2;  // the end of a sequence
  static constexpr TokenId unk = 3;  // an unknown symbol

  // Only the special symbols.
  Vocabulary();
  // The special symbols and these. Throws ValueError for one that is empty, repeated or special.
  explicit Vocabulary(const std::vector<std::string>& symbols);
  // The vocabulary of the distinct symbols of the texts, sorted.
  static Vocabulary of(std::span<const std::vector<std::string>> texts);
  // Without special symbols. Throws ValueError for a symbol that is empty or repeated.
  static Vocabulary plain(const std::vector<std::string>& symbols);
  // The plain vocabulary of the distinct characters of a text, sorted, for a character model.
  // Throws ValueError unless the text is UTF-8.
  static Vocabulary of_characters(std::string_view text);
  // The plain vocabulary of the distinct labels, sorted, for a classifier: ids 0 … classes - 1.
  // Throws ValueError for an empty label.
  static Vocabulary of_labels(std::span<const std::string> labels);

  bool is_plain() const { return plain_; }  // without special symbols
  // The number of ids, special ones included.
  Index size() const { return static_cast<Index>(symbols_.size()); }
  // The id of a symbol. For an unknown symbol `unk`, or, in a plain vocabulary, throws ValueError.
  TokenId id(std::string_view symbol) const;
  bool contains(std::string_view symbol) const;  // whether it has an id
  // The symbol of an id. Throws ValueError unless 0 ≤ id < size.
  const std::string& symbol(TokenId id) const;

  // The ids of symbols. Throws as `id` does.
  TokenIds encode(std::span<const std::string> symbols) const;
  // The symbols up to the first <eos>, without <pad> and <bos>; in a plain vocabulary all symbols.
  // Throws as `symbol` does.
  std::vector<std::string> decode(std::span<const TokenId> ids) const;
  // The ids of a text's characters. Throws as `id` does, and ValueError unless the text is UTF-8.
  TokenIds encode_text(std::string_view text) const;
  // The symbols of `decode`, joined. Throws as it does.
  std::string decode_text(std::span<const TokenId> ids) const;

  // The symbols after the special ones, one per line, for checkpoints. A plain vocabulary, and one
  // with line breaks in symbols, begins with an empty line and "plain" or "special", and has "\n"
  // for a line break and "\\" for a backslash.
  std::string to_text() const;
  // The inverse of `to_text`. Throws as the constructor does.
  static Vocabulary from_text(std::string_view text);

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.plain_ == b.plain_ && a.symbols_ == b.symbols_;
  }

 private:
  static constexpr std::size_t num_specials = 4;

  // Without any symbol.
  struct Empty {};
  Vocabulary(Empty, bool is_plain) : plain_(is_plain) {}

  void add(const std::string& symbol);

  bool plain_ = false;
  std::vector<std::string> symbols_;
  TokenToId ids_;
};

}  // namespace weft
