// PretrainedTokenizer: the tokenizers of Hugging Face's models, read from tokenizer.json.
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

// Reads a tokenizer.json, and encodes and decodes as Hugging Face's library `tokenizers` does:
//
// - models: BPE, of bytes (GPT-2, Llama 3, Qwen, SmolLM) or of characters with bytes for what the
//   vocabulary lacks (Llama 2, Mistral), Unigram (T5), WordPiece (BERT) and WordLevel;
// - normalizers: NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Nmt, Replace, Prepend,
//   Precompiled (SentencePiece's tables), ByteLevel, BertNormalizer;
// - pre-tokenizers: ByteLevel, Split by text or regular expression, Digits, Punctuation, Metaspace,
//   Whitespace, WhitespaceSplit, CharDelimiterSplit, FixedLength, BertPreTokenizer;
// - tokens that begin and end a text: TemplateProcessing, BertProcessing, RobertaProcessing;
// - decoders: ByteLevel, WordPiece, Metaspace, Replace, ByteFallback, Fuse, Strip, BPEDecoder, CTC.
//
// Regular expressions have Oniguruma's syntax, as in that library. Truncation and padding of the
// file are ignored. Copies share the vocabulary, which never changes; it may be used on several
// threads.
//   const auto tokenizer = PretrainedTokenizer::load("SmolLM2-135M-Instruct/tokenizer.json");
//   const TokenIds ids = tokenizer.add_special_tokens(tokenizer.encode("Hello"));
class WEFT_API PretrainedTokenizer {
 public:
  // Throws FileError, naming the step or the entry, for a file that cannot be read, is not JSON, or
  // describes anything else than the above.
  static PretrainedTokenizer load(const std::filesystem::path& path);
  // The same of the contents of a file, which errors name as `path`.
  static PretrainedTokenizer from_text(std::string text,
                                       const std::filesystem::path& path = "tokenizer.json");
  // The contents of the file, for checkpoints.
  const std::string& to_text() const;

  // The largest id + 1.
  Index size() const;
  // The id of a token by its name in the file ("Ġthe", "<|im_end|>"), if there is one.
  std::optional<TokenId> find(std::string_view name) const;
  // Whether a token is special: not part of a text ("<|im_end|>").
  bool is_special(TokenId id) const;
  // The bytes that a token adds to a text if others are before and after it, which need not be
  // whole characters; empty for an id without a token. Throws ValueError unless 0 ≤ id < size.
  const std::string& token(TokenId id) const;

  // The ids of a text. Names of special tokens in the text are encoded as these. Throws ValueError
  // unless the text is UTF-8, if the steps of the file would take far more than a time, or make far
  // more than a text, in proportion to its size, and if it has unknown characters for which the
  // file has no token.
  TokenIds encode(std::string_view text) const;
  // The ids with the tokens before and after them that the model expects of a whole text ("<s>"),
  // if there are any.
  TokenIds add_special_tokens(TokenIds ids) const;
  // The text of tokens. For ids other than those of a text, a decoder of bytes (ByteLevel) gives
  // bytes that need not be UTF-8; see Utf8StreamDecoder. Ids without a token add nothing. Throws as
  // `token` does, and ValueError if the text would be far larger than the tokens' names.
  std::string decode(std::span<const TokenId> ids) const;

 private:
  struct State;
  explicit PretrainedTokenizer(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

}  // namespace weft
