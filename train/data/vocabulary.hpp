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
using Sequence = std::vector<TokenId>;

// Ids 0 to 3 are the special symbols <pad>, <bos>, <eos> and <unk>; the others follow in the order
// given.
class WEFT_API Vocabulary {
 public:
  static constexpr TokenId pad = 0;
  static constexpr TokenId bos = 1;
  static constexpr TokenId eos = 2;
  static constexpr TokenId unk = 3;

  // Only the special symbols.
  Vocabulary();
  // Throws ValueError for a symbol that is empty, repeated, special, or contains a line break.
  explicit Vocabulary(const std::vector<std::string>& symbols);
  // The vocabulary of the distinct symbols of the texts, sorted.
  static Vocabulary of(std::span<const std::vector<std::string>> texts);

  // The number of ids, special ones included.
  Index size() const { return static_cast<Index>(symbols_.size()); }
  // The id of a symbol; `unk` for an unknown symbol.
  TokenId id(std::string_view symbol) const;
  bool contains(std::string_view symbol) const;
  // Throws ValueError unless 0 ≤ id < size.
  const std::string& symbol(TokenId id) const;

  Sequence encode(std::span<const std::string> symbols) const;
  // The symbols up to the first <eos>, without <pad> and <bos>.
  std::vector<std::string> decode(std::span<const TokenId> ids) const;

  // The symbols after the special ones, one per line, for checkpoints.
  std::string to_text() const;
  // The inverse of `to_text`. Throws as the constructor does.
  static Vocabulary from_text(std::string_view text);

  friend bool operator==(const Vocabulary& a, const Vocabulary& b) {
    return a.symbols_ == b.symbols_;
  }

 private:
  static constexpr std::size_t num_specials = 4;

  void add(const std::string& symbol);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids_;
};

}  // namespace weft
