// TokenModel: splits a word into tokens of a vocabulary.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "weft/train/data/vocabulary.hpp"
#include "train/text/tokenizers/internal/text_budget.hpp"

namespace weft {

inline std::optional<TokenId> find_id(const TokenToId& ids, std::string_view name) {
  const auto found = ids.find(name);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // Appends the tokens of a word. Throws ValueError if `budget` is exceeded, or if the word has
  // unknown characters and the vocabulary contains no token for them.
  virtual void encode(std::string_view word, TextBudget& budget, TokenIds& ids) const = 0;

  // Returns the ids of tokens by their names in the file.
  const TokenToId& ids() const { return ids_; }
  // Returns the number of tokens in the file; several tokens may have the same name.
  std::size_t size() const { return size_ == 0 ? ids_.size() : size_; }
  // Whether words must contain bytes instead of GPT-2's letters for bytes.
  bool takes_bytes() const { return takes_bytes_; }

 protected:
  TokenToId ids_;
  std::size_t size_ = 0;  // 0: the size of `ids_`
  bool takes_bytes_ = false;
};

// Creates the model of a tokenizer.json. `after_byte_letters` tells whether words are written in
// GPT-2's letters. Throws ValueError for an invalid description.
std::unique_ptr<TokenModel> make_token_model(const nlohmann::json& description,
                                             bool after_byte_letters);

// The largest id that a file may have.
inline constexpr TokenId max_token_id = (1 << 20) - 1;

}  // namespace weft
