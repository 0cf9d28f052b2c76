// WordPiece: splits texts into the tokens of BERT.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/text/tokenizers/pretrained_tokenizer.hpp"

namespace weft {

struct WordPieceOptions {
  // Whether letters become lower-case.
  bool lower_case = true;
  // Whether accents are removed; when not given, as `lower_case` says.
  std::optional<bool> strip_accents = {};
  // Tokens that are found in the normalized text before it is cut into words, with their ids, as
  // added_tokens.json lists them. Ids of tokens that are not in the vocabulary continue its ids.
  std::map<std::string, TokenId> added_tokens = {};
};

// Two texts as one sequence.
struct WordPiecePair {
  TokenIds tokens;    // [CLS] first text [SEP] second text [SEP]
  TokenIds segments;  // of each token: 0 up to the first [SEP], then 1
};

// Words are split at white space, each punctuation mark and Chinese character is a word, and a word
// becomes the longest token that it starts with, then the longest that continues it ("##…"), and so
// on; it is [UNK] where there is none, and beyond 100 characters (Schuster and Nakajima, 2012;
// Devlin et al., 2019). Control characters are removed. The tokens are those of Hugging Face's
// BertTokenizer, except that characters added to Unicode since 2015 have the categories of
// utf8proc's version of Unicode, there those of Unicode 8.
//   const WordPiece tokenizer("vocab.txt");
//   const TokenIds ids = tokenizer.encode("Attention is all you need", 128);
class WEFT_API WordPiece {
 public:
  // Reads a vocab.txt, which has one token in each line, in the order of their ids, or the
  // vocabulary of a tokenizer.json of type WordPiece; `options` replace the other entries. Throws
  // FileError, naming the line or the token, for a file that cannot be read or is not UTF-8, for a
  // token that is empty or repeated, for ids with gaps, for a vocabulary without [UNK], [CLS] and
  // [SEP], and for an added token with an id other than its own or the next.
  explicit WordPiece(const std::filesystem::path& vocabulary, const WordPieceOptions& options = {});

  // The number of tokens.
  Index size() const { return std::ssize(tokens_); }
  // The token of an id. Throws ValueError unless 0 ≤ id < size.
  const std::string& token(TokenId id) const;
  // The id of a token, if there is one.
  std::optional<TokenId> find(std::string_view token) const;

  // The ids of [CLS], the text's tokens, and [SEP]; with `max_len`, of as many tokens as fit into
  // max_len ids. [CLS], [SEP], [MASK], [PAD] and [UNK] in the text are these tokens, where the
  // vocabulary has them. Throws ValueError for a text that is not UTF-8 and for max_len < 2.
  TokenIds encode(std::string_view text, std::optional<Index> max_len = {}) const;
  // The same for two texts, of which the longer one is truncated first. Throws ValueError for a
  // text that is not UTF-8 and for max_len < 3.
  WordPiecePair encode_pair(std::string_view first, std::string_view second,
                            std::optional<Index> max_len = {}) const;
  // The text of tokens without the special ones: words separated by spaces, without one before
  // ".", "?", "!" and ",". Throws ValueError for an id outside 0 … size - 1.
  std::string decode(std::span<const TokenId> ids) const;

 private:
  std::vector<std::string> tokens_;
  PretrainedTokenizer tokenizer_;
};

}  // namespace weft
