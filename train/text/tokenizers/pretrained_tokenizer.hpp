// PretrainedTokenizer: the tokenizer of a Hugging Face model, read from tokenizer.json.
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

// Reads a tokenizer.json, and encodes and decodes like Hugging Face's library `tokenizers`.
// Supported are:
//
// - models: BPE of bytes (GPT-2, Llama 3, Qwen, SmolLM) or of characters with a fallback to bytes
//   (Llama 2, Mistral), Unigram (T5), WordPiece (BERT) and WordLevel;
// - normalizers: NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Nmt, Replace, Prepend,
//   Precompiled (SentencePiece's tables), ByteLevel, BertNormalizer;
// - pre-tokenizers: ByteLevel, Split by string or regular expression, Digits, Punctuation,
//   Metaspace, Whitespace, WhitespaceSplit, CharDelimiterSplit, FixedLength, BertPreTokenizer;
// - post-processors: TemplateProcessing, BertProcessing, RobertaProcessing;
// - decoders: ByteLevel, WordPiece, Metaspace, Replace, ByteFallback, Fuse, Strip, BPEDecoder, CTC.
//
// Regular expressions use Oniguruma's syntax, as in `tokenizers`. The file's settings for
// truncation and padding are ignored. Copies share the vocabulary, which never changes. Several
// threads may use a tokenizer at once.
//   const auto tokenizer = PretrainedTokenizer::load("SmolLM2-135M-Instruct/tokenizer.json");
//   const TokenIds ids = tokenizer.add_special_tokens(tokenizer.encode("Hello"));
class WEFT_API PretrainedTokenizer {
 public:
  // Reads a file. Throws FileError, naming the step or the entry, if the file cannot be read, is
  // not JSON, or contains something that is not supported.
  static PretrainedTokenizer load(const std::filesystem::path& path);
  // Reads the contents of a tokenizer.json. Throws the same exceptions as `load`; messages call the
  // file `path`.
  static PretrainedTokenizer from_text(std::string text,
                                       const std::filesystem::path& path = "tokenizer.json");
  // Returns the contents of the file, for checkpoints.
  const std::string& to_text() const;

  // Returns the largest id + 1.
  Index size() const;
  // Returns the id of a token, given by its name in the file ("Ġthe", "<|im_end|>"). Returns
  // nothing if there is no such token.
  std::optional<TokenId> find(std::string_view name) const;
  // Returns whether a token is special, that is, not part of the text itself ("<|im_end|>").
  bool is_special(TokenId id) const;
  // Returns the bytes that a token adds in the middle of a text, which need not be whole
  // characters. Returns an empty string for an id without a token. Throws ValueError unless 0 ≤ id
  // < size().
  const std::string& token(TokenId id) const;

  // Returns the ids of a text. The name of a special token in the text is encoded as that token.
  // Throws ValueError unless the text is UTF-8, if the text contains unknown characters and the
  // file has no token for them, and if the file's steps take far more time or memory than is in
  // proportion to the size of the text.
  TokenIds encode(std::string_view text) const;
  // Returns the ids with the special tokens that the model expects before and after a whole text,
  // such as "<s>". Some models expect none.
  TokenIds add_special_tokens(TokenIds ids) const;
  // Returns the text of tokens. For ids that `encode` did not return, the result of a ByteLevel
  // decoder need not be valid UTF-8; see Utf8StreamDecoder. Ids without a token add nothing. Throws
  // ValueError for an id outside [0, size()) and if the text would be far larger than the tokens'
  // names.
  std::string decode(std::span<const TokenId> ids) const;

 private:
  struct State;
  explicit PretrainedTokenizer(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

}  // namespace weft
