// Tokenizer: the tokens of a language model, which are characters, byte pairs or those of a
// tokenizer.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <weft/train/data/vocabulary.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/text/tokenizers/pretrained_tokenizer.hpp>
#include "examples/gpt/configuration.hpp"

namespace weft::gpt {

class Tokenizer {
 public:
  explicit Tokenizer(Vocabulary characters) : tokens_(std::move(characters)) {}
  explicit Tokenizer(BytePairEncoding byte_pairs) : tokens_(std::move(byte_pairs)) {}
  explicit Tokenizer(PretrainedTokenizer pretrained) : tokens_(std::move(pretrained)) {}

  // That of a checkpoint. Throws ValueError or FileError when it is none.
  static Tokenizer of(const Configuration& configuration);
  // Throws ValueError for a tokenizer.json, which checkpoints do not have.
  void store_in(Configuration& configuration) const;

  // "characters" or "bytepairs", as for --tokenizer.
  std::string kind() const;
  Index size() const;

  // Throws ValueError for a text that is not UTF-8 and, naming it, for a character that the model
  // does not know.
  TokenIds encode(std::string_view text) const;
  // The same with the tokens that begin a text for the model, if there are any ("<s>").
  TokenIds encode_beginning(std::string_view text) const;
  // The bytes of a token, which need not be whole characters; none for an id above those of a
  // tokenizer.json.
  const std::string& token(TokenId id) const;
  // The tokens that end a document: none or one.
  TokenIds ends() const;
  // What stands before a text: the end of another one, or a line break. Throws ValueError when the
  // model knows neither.
  TokenIds beginning() const;

  friend bool operator==(const Tokenizer& a, const Tokenizer& b);

 private:
  std::variant<Vocabulary, BytePairEncoding, PretrainedTokenizer> tokens_;
};

}  // namespace weft::gpt
