// Tokenizer: the tokens of a model, of any kind.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "weft/autograd/export.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/text/tokenizers/byte_pair_encoding.hpp"
#include "weft/train/text/tokenizers/pretrained_tokenizer.hpp"

namespace weft {

// A Vocabulary of characters, a BytePairEncoding or a PretrainedTokenizer, or none of these.
// Checkpoints store it (see TrainingLoop::register_for_checkpointing).
//   const Tokenizer tokenizer = Vocabulary::of_characters("hello");
//   const TokenIds ids = tokenizer.encode("hole");
class WEFT_API Tokenizer {
 public:
  // Creates a tokenizer without tokens, which encodes and decodes nothing.
  Tokenizer() = default;
  // Creates a tokenizer of one kind.
  Tokenizer(Vocabulary characters) : tokens_(std::move(characters)) {}           // of characters
  Tokenizer(BytePairEncoding byte_pairs) : tokens_(std::move(byte_pairs)) {}     // of byte pairs
  Tokenizer(PretrainedTokenizer pretrained) : tokens_(std::move(pretrained)) {}  // from a file

  // Reads the tokenizer of a folder: tokenizer.json, or else vocab.json and merges.txt. Returns a
  // tokenizer without tokens if the folder contains none of these files. Throws FileError for a
  // file that cannot be read.
  static Tokenizer load(const std::filesystem::path& folder);

  // The tokens as strings.
  struct Text {
    // "characters", "byte_pairs", "tokenizer.json", or "none".
    std::string kind = "none";
    // Vocabulary::to_text, vocab.json or tokenizer.json.
    std::string tokens = {};
    std::string merges = {};  // merges.txt of byte pairs

    friend bool operator==(const Text&, const Text&) = default;
  };
  // Returns the tokens as strings, for checkpoints.
  Text to_text() const;
  // Returns the tokenizer that `to_text` describes. Throws ValueError or FileError for other
  // strings.
  static Tokenizer from_text(const Text& text);

  // Whether there are no tokens.
  bool empty() const { return std::holds_alternative<std::monostate>(tokens_); }
  // The tokens if they are of this type, otherwise null.
  //   if (const auto* vocabulary = tokenizer.get_if<Vocabulary>()) …
  template <class Kind>
  const Kind* get_if() const {
    return std::get_if<Kind>(&tokens_);
  }

  // Returns the largest id + 1; 0 without tokens.
  Index size() const;
  // Returns the ids of a string, without tokens for its beginning and end. Throws ValueError unless
  // `text` is UTF-8, for a character that a plain vocabulary does not contain, and without tokens.
  TokenIds encode(std::string_view text) const;
  // Returns the ids of a string with the tokens before and after it that the model expects of a
  // whole text ("<s>"), if any. Throws the same exceptions as `encode`.
  TokenIds encode_with_ends(std::string_view text) const;
  // Returns the bytes of a token, which need not be whole characters. Returns "" for ids beyond the
  // tokens of a tokenizer.json, because models can have more ids. Throws ValueError for a negative
  // id, for an id that a different kind of tokenizer does not contain, and for a tokenizer without
  // tokens.
  const std::string& token(TokenId id) const;
  // Returns the text of tokens: PretrainedTokenizer::decode, or the bytes of the tokens, joined,
  // which need not be UTF-8 (see Utf8StreamDecoder). Throws the same exceptions as `token`.
  std::string decode(std::span<const TokenId> ids) const;
  // Returns the tokens that end a text: the end-of-text token of byte pairs; empty for other kinds.
  // A model can define different tokens.
  TokenIds eos_token_ids() const;

  // Whether both have the same tokens.
  friend bool operator==(const Tokenizer& a, const Tokenizer& b) {
    return a.to_text() == b.to_text();
  }

 private:
  std::variant<std::monostate, Vocabulary, BytePairEncoding, PretrainedTokenizer> tokens_;
};

}  // namespace weft
