// WordPiece: BERT's tokenizer.
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

// Options of WordPiece.
struct WordPieceOptions {
  // Whether to convert letters to lower case.
  bool lower_case = true;
  // Whether to remove accents. If not set, accents are removed if `lower_case` is true.
  std::optional<bool> strip_accents = {};
  // Tokens, with their ids, that are recognized in the normalized text before it is split into
  // words, as listed in added_tokens.json. The ids of tokens that are not in the vocabulary must
  // continue its ids.
  std::map<std::string, TokenId> added_tokens = {};
};

// Two texts encoded as one sequence.
struct WordPiecePair {
  TokenIds tokens;    // [CLS] first text [SEP] second text [SEP]
  TokenIds segments;  // for each token: 0 up to the first [SEP], then 1
};

// BERT's tokenizer (Schuster and Nakajima, 2012; Devlin et al., 2019). Control characters are
// removed. Words are split at white space; each punctuation mark and Chinese character is a word.
// From left to right, each word is split into the longest tokens in the vocabulary; tokens after
// the first start with "##". A word that cannot be split, or is longer than 100 characters, becomes
// [UNK].
//
// The tokens are the same as those of Hugging Face's BertTokenizer, except for characters added to
// Unicode since 2015: their categories come from utf8proc's version of Unicode instead of
// Unicode 8.
//   const WordPiece tokenizer("vocab.txt");
//   const TokenIds ids = tokenizer.encode("Attention is all you need", 128);
class WEFT_API WordPiece {
 public:
  // Reads a vocab.txt, which contains one token per line in the order of ids, or the vocabulary of
  // a tokenizer.json with a WordPiece model. Other entries of tokenizer.json are ignored in favour
  // of `options`. Throws FileError, naming the line or the token, for a file that cannot be read or
  // is not UTF-8, for an empty or repeated token, for ids with gaps, for a vocabulary without
  // [UNK], [CLS] or [SEP], and for an added token whose id is neither its id in the vocabulary nor
  // the next free id.
  explicit WordPiece(const std::filesystem::path& vocabulary, const WordPieceOptions& options = {});

  // Returns the number of tokens.
  Index size() const { return std::ssize(tokens_); }
  // Returns the token of an id. Throws ValueError unless 0 ≤ id < size().
  const std::string& token(TokenId id) const;
  // Returns the id of a token, or nothing if there is no such token.
  std::optional<TokenId> find(std::string_view token) const;

  // Returns the ids of [CLS], the text's tokens, and [SEP]. With `max_len`, the text is truncated
  // so that there are at most max_len ids. The names [CLS], [SEP], [MASK], [PAD] and [UNK] in the
  // text are encoded as these tokens if the vocabulary contains them. Throws ValueError for a text
  // that is not UTF-8 and for max_len < 2.
  TokenIds encode(std::string_view text, std::optional<Index> max_len = {}) const;
  // Returns the ids of two texts as one sequence. With `max_len`, tokens are removed from the end
  // of the longer text first. Throws ValueError for a text that is not UTF-8 and for max_len < 3.
  WordPiecePair encode_pair(std::string_view first, std::string_view second,
                            std::optional<Index> max_len = {}) const;
  // Returns the text of tokens without special tokens: words separated by spaces, but no space
  // before ".", "?", "!" and ",". Throws ValueError for an id outside [0, size()).
  std::string decode(std::span<const TokenId> ids) const;

 private:
  std::vector<std::string> tokens_;
  PretrainedTokenizer tokenizer_;
};

}  // namespace weft
