// BytePairEncoding: GPT-2's tokenizer, learned from a text or read from files.
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

// Byte-level byte-pair encoding (Sennrich et al., 2016; Radford et al., 2019), with the same ids as
// Hugging Face's GPT2Tokenizer. A text is split into words, each with the space before it. Within a
// word, pairs of tokens are merged, starting from single bytes, in the order in which the merges
// were learned. Every text can be encoded, and decoding returns the same text.
//
// Copies share the vocabulary, which never changes. Several threads may use a tokenizer at once.
//   const auto tokenizer = BytePairEncoding::load("vocab.json", "merges.txt");
//   const TokenIds ids = tokenizer.encode("Attention is all you need");
class WEFT_API BytePairEncoding {
 public:
  // The token that marks the end of a text.
  static constexpr std::string_view end_of_text = "<|endoftext|>";

  // Reads vocab.json, an object that maps tokens to ids, and merges.txt, which contains two tokens
  // per line, the earliest merge first. Both files write bytes as GPT-2's printable characters. A
  // token that is neither a byte nor the result of a merge is special: its name in a text is
  // encoded as this token.
  //
  // Throws FileError if a file cannot be read or is not UTF-8, if vocab.json is not JSON, if the
  // ids are not 0 to size - 1, if a byte has no token, and if a line of merges.txt does not contain
  // two tokens whose merge is in the vocabulary.
  static BytePairEncoding load(const std::filesystem::path& vocabulary,
                               const std::filesystem::path& merges);

  // Learns a vocabulary from a text. It starts with the bytes, repeatedly adds the most frequent
  // pair of tokens within words (of equally frequent pairs, the pair with lower ids), and ends with
  // `end_of_text`, which may separate parts of the text. The vocabulary is smaller than
  // `vocabulary_size` if no pair occurs at least twice any more. Throws ValueError if
  // `vocabulary_size` < 257 and unless the text is UTF-8.
  static BytePairEncoding learn(std::string_view text, Index vocabulary_size);

  // The contents of vocab.json and merges.txt, for checkpoints.
  struct Text {
    std::string vocabulary, merges;  // JSON; one merge per line
  };
  // Returns the contents of vocab.json and merges.txt.
  Text to_text() const;
  // Returns the tokenizer that `to_text` wrote. Throws the same exceptions as `load` for invalid
  // contents.
  static BytePairEncoding from_text(const Text& text);

  // Writes the files that `load` reads. Throws FileError if one cannot be written.
  void save(const std::filesystem::path& vocabulary, const std::filesystem::path& merges) const;

  // Returns the number of ids, including special tokens.
  Index size() const;
  // Returns the id of a token, given by its bytes or, for a special token, by its name. Returns
  // nothing if there is no such token.
  std::optional<TokenId> find(std::string_view token) const;
  // Returns the bytes of a token, which need not be whole characters, or the name of a special
  // token. Throws ValueError unless 0 ≤ id < size().
  const std::string& token(TokenId id) const;

  // Returns the ids of a text's tokens. Throws ValueError unless the text is UTF-8.
  TokenIds encode(std::string_view text) const;
  // Returns the bytes of the tokens as one string. For ids that `encode` did not return, they need
  // not be valid UTF-8; see Utf8StreamDecoder. Throws ValueError for an id outside [0, size()).
  std::string decode(std::span<const TokenId> ids) const;

 private:
  struct State;
  explicit BytePairEncoding(std::shared_ptr<const State> state);
  // Messages name the two paths.
  static BytePairEncoding parse(const Text& text, const std::filesystem::path& vocabulary,
                                const std::filesystem::path& merges);

  std::shared_ptr<const State> state_;
};

}  // namespace weft
