// TokenPipeline: what a tokenizer.json describes. All tokenizers of words and pieces are one.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/tokenizers/internal/added_tokens.hpp"
#include "train/tokenizers/internal/text_steps.hpp"
#include "train/tokenizers/internal/token_model.hpp"

namespace weft {

// The functions are PretrainedTokenizer's.
class TokenPipeline {
 public:
  // `name` is that of the class in errors. Throws ValueError for a description that is none.
  TokenPipeline(const char* name, const nlohmann::json& file);

  Index size() const { return std::ssize(tokens_); }
  std::optional<TokenId> find(std::string_view name) const;
  bool is_special(TokenId id) const;
  const std::string& token(TokenId id) const;
  Sequence encode(std::string_view text) const;
  Sequence with_ends(Sequence ids) const;
  std::string decode(std::span<const TokenId> ids) const;

 private:
  // How names of tokens become the bytes of a text.
  struct Decoding {
    bool byte_letters = false;  // GPT-2's
    std::string space;          // what stands for a space, "▁"
    bool byte_names = false;    // "<0x0A>"
    bool strips_space = false;  // at the beginning of a text
    bool separates = false;     // a space before each token but one that begins with
    std::string continuation;   // this, "##", which is removed,
    bool joins_marks = false;   // or with a punctuation mark
  };
  void add_decoder(const nlohmann::json& description);
  std::string bytes_of(const std::string& name) const;
  void set_token(TokenId id, std::string bytes);
  void add_tokens(const nlohmann::json& list);
  void add_ends(const nlohmann::json& description);
  // Appends the ids of a part of a text without added tokens.
  struct Words;
  void encode_words(std::string_view part, bool is_first, Words& words) const;

  const char* name_;
  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  std::unique_ptr<TokenModel> model_;
  Sequence before_, after_;  // a whole text
  Decoding decoding_;
  AddedTokens added_, added_to_normalized_;
  TokenIds added_names_;
  std::vector<std::string> tokens_;
  std::vector<bool> specials_;
};

}  // namespace weft
