// TokenModel: splits a word into tokens of a vocabulary.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "weft/train/data/vocabulary.hpp"

namespace weft {

inline std::optional<TokenId> find_id(const TokenIds& ids, std::string_view name) {
  const auto found = ids.find(name);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // Appends the tokens of a word.
  virtual void encode(std::string_view word, Sequence& ids) const = 0;

  // The names in the file.
  const TokenIds& ids() const { return ids_; }

 protected:
  TokenIds ids_;
};

// The model of a tokenizer.json. With `bytes_as_letters`, names have GPT-2's letters for the bytes
// of words. Throws ValueError for a description that is none.
std::unique_ptr<TokenModel> make_token_model(const nlohmann::json& description,
                                             bool bytes_as_letters);

// The largest id that a file may have.
inline constexpr TokenId max_token_id = (1 << 20) - 1;

}  // namespace weft
