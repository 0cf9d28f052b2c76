// BytePairEncoding: the tokens of GPT-2, learned from a text or read from its files.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// Byte-level byte-pair encoding (Sennrich et al., 2016; Radford et al., 2019): a text is split into
// words, with the space before each, and pairs of tokens of a word are merged, beginning with
// single bytes, in the order in which the merges were learned. Every text has an encoding, and
// decoding gives it back. The ids are those of Hugging Face's GPT2Tokenizer. Copies share the
// vocabulary, which never changes; it may be used on several threads.
//   const auto tokenizer = BytePairEncoding::load("vocab.json", "merges.txt");
//   const TokenIds ids = tokenizer.encode("Attention is all you need");
class WEFT_API BytePairEncoding {
 public:
  // The token that ends a text.
  static constexpr std::string_view end_of_text = "<|endoftext|>";

  // Reads vocab.json, an object with the id of each token, and merges.txt, with two tokens per
  // line, the earliest merge first; both write bytes as GPT-2's printable characters. Tokens of the
  // vocabulary that are neither bytes nor results of a merge are special: each is encoded where its
  // name is in a text. Throws FileError for files that cannot be read or are not UTF-8 text or not
  // JSON, ids other than 0, 1, … size - 1, a vocabulary without a token for each byte, and lines
  // that are not two tokens of which the vocabulary has the merged one.
  static BytePairEncoding load(const std::filesystem::path& vocabulary,
                               const std::filesystem::path& merges);

  // Learns a vocabulary from a text: the bytes, then the most frequent pair of tokens within words
  // again and again, in case of a tie that of the lower ids, and at last `end_of_text`, which may
  // be between parts of the text. It is smaller than `vocabulary_size` when no pair occurs twice
  // any more. Throws ValueError for a size below 257 and unless the text is UTF-8.
  static BytePairEncoding learn(std::string_view text, Index vocabulary_size);

  // The contents of vocab.json and merges.txt, for checkpoints.
  struct Text {
    std::string vocabulary, merges;  // JSON, and a merge in each line
  };
  Text to_text() const;  // see Text
  // The inverse of `to_text`. Throws as `load` does for the files' contents.
  static BytePairEncoding from_text(const Text& text);

  // Writes the files that `load` reads. Throws FileError when one cannot be written.
  void save(const std::filesystem::path& vocabulary, const std::filesystem::path& merges) const;

  // The number of ids, special ones included.
  Index size() const;
  // The id of a token given by its bytes, or a special one by its name, if there is one.
  std::optional<TokenId> find(std::string_view token) const;
  // The bytes of a token, which need not be whole characters; the name of a special one. Throws
  // ValueError unless 0 ≤ id < size.
  const std::string& token(TokenId id) const;

  // The ids of a text's tokens. Throws ValueError unless the text is UTF-8.
  TokenIds encode(std::string_view text) const;
  // The tokens' bytes, joined: for ids other than those of a text, they need not be UTF-8; see
  // Utf8StreamDecoder. Throws as `token` does.
  std::string decode(std::span<const TokenId> ids) const;

 private:
  struct State;
  explicit BytePairEncoding(std::shared_ptr<const State> state);
  // The paths are those in messages.
  static BytePairEncoding parse(const Text& text, const std::filesystem::path& vocabulary,
                                const std::filesystem::path& merges);

  std::shared_ptr<const State> state_;
};

}  // namespace weft
