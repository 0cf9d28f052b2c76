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

// A hash for maps with string keys that can be searched with a std::string_view, without a copy.
struct TextHash {
  using is_transparent = void;  // enables the search with a std::string_view
  // Returns the hash of a string.
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
// A map from tokens to their ids.
using TokenToId = std::unordered_map<std::string, TokenId, TextHash, std::equal_to<>>;

// A list of symbols with their token ids. Ids 0 to 3 are the special symbols <pad>, <bos>, <eos>
// and <unk>; the given symbols follow in order. A plain vocabulary has no special symbols: the
// given symbols have the ids 0, 1, ….
//   const Vocabulary characters = Vocabulary::of_characters("hello");  // e h l o
//   const TokenIds ids = characters.encode_text("hole");               // 1 3 2 0
class WEFT_API Vocabulary {
 public:
  static constexpr TokenId pad = 0;  // padding
  static constexpr TokenId bos = 1;  // the beginning of a sequence
  static constexpr TokenId eos = 2;  // the end of a sequence
  static constexpr TokenId unk = 3;  // an unknown symbol

  // Creates a vocabulary of only the special symbols.
  Vocabulary();
  // Creates a vocabulary of the special symbols and `symbols`. Throws ValueError for a symbol that
  // is empty, repeated or special.
  explicit Vocabulary(const std::vector<std::string>& symbols);
  // Returns a vocabulary of the special symbols and the distinct symbols in `texts`, sorted. Throws
  // ValueError for a symbol that is empty or special.
  static Vocabulary of(std::span<const std::vector<std::string>> texts);
  // Returns a plain vocabulary. Throws ValueError for a symbol that is empty or repeated.
  static Vocabulary plain(const std::vector<std::string>& symbols);
  // Returns a plain vocabulary of the distinct characters in a string, sorted, for a character
  // model. Throws ValueError unless the string is UTF-8.
  static Vocabulary of_characters(std::string_view text);
  // Returns a plain vocabulary of the distinct labels, sorted, for a classifier: the ids are the
  // classes from 0. Throws ValueError for an empty label.
  static Vocabulary of_labels(std::span<const std::string> labels);

  bool is_plain() const { return plain_; }  // whether it has no special symbols
  // Returns the number of ids, including special symbols.
  Index size() const { return static_cast<Index>(symbols_.size()); }
  // Returns the id of a symbol, or `unk` for an unknown symbol. A plain vocabulary throws
  // ValueError for an unknown symbol.
  TokenId id(std::string_view symbol) const;
  bool contains(std::string_view symbol) const;  // whether `symbol` has an id
  // Returns the symbol of an id. Throws ValueError unless 0 ≤ id < size().
  const std::string& symbol(TokenId id) const;

  // Returns the ids of symbols. Treats unknown symbols and throws exceptions like `id`.
  TokenIds encode(std::span<const std::string> symbols) const;
  // Returns the symbols up to the first <eos>, without <pad> and <bos>. A plain vocabulary returns
  // all symbols. Throws ValueError for an id outside [0, size()).
  std::vector<std::string> decode(std::span<const TokenId> ids) const;
  // Returns the ids of a string's characters. Treats unknown characters and throws exceptions like
  // `id`. Also throws ValueError unless the string is UTF-8.
  TokenIds encode_text(std::string_view text) const;
  // Returns the symbols of `decode` as one string. Throws the same exceptions as `decode`.
  std::string decode_text(std::span<const TokenId> ids) const;

  // Returns the symbols except special ones, one per line, for checkpoints. For a plain vocabulary
  // and for symbols with line breaks, the string starts with an empty line and a line "plain" or
  // "special"; line breaks and backslashes in symbols are then written as "\n" and "\\".
  std::string to_text() const;
  // Returns the vocabulary that `to_text` wrote. Throws ValueError for a string that `to_text` does
  // not write, such as one with a repeated symbol.
  static Vocabulary from_text(std::string_view text);

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.plain_ == b.plain_ && a.symbols_ == b.symbols_;
  }

 private:
  static constexpr std::size_t num_specials = 4;

  // Tag of the constructor of a vocabulary without any symbol.
  struct Empty {};
  Vocabulary(Empty, bool is_plain) : plain_(is_plain) {}

  void add(const std::string& symbol);

  bool plain_ = false;
  std::vector<std::string> symbols_;
  TokenToId ids_;
};

}  // namespace weft
