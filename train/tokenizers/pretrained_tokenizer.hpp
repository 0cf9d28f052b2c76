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

// Reads a tokenizer.json and encodes as the library `tokenizers` of Hugging Face does:
//
// - models: BPE, byte-level (GPT-2, Llama 3, Qwen, SmolLM) or of characters with bytes for what
//   the vocabulary lacks (Llama 2, Mistral), Unigram (T5), and WordPiece (BERT);
// - normalizers: NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Replace, Prepend,
//   Precompiled (SentencePiece's tables), BertNormalizer;
// - pre-tokenizers: ByteLevel, Split by text or regular expression, Digits, Punctuation, Metaspace,
//   WhitespaceSplit, BertPreTokenizer;
// - tokens that begin and end a text: TemplateProcessing, BertProcessing, RobertaProcessing.
//
// Truncation and padding of the file are ignored. Copies share the vocabulary, which never changes;
// it may be used on several threads.
//   const auto tokenizer = PretrainedTokenizer::load("SmolLM2-135M-Instruct/tokenizer.json");
//   const Sequence ids = tokenizer.with_ends(tokenizer.encode("Hello"));
class WEFT_API PretrainedTokenizer {
 public:
  // Throws FileError for a file that cannot be read, is not JSON or has contents other than the
  // above, with their name.
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
  // The bytes that a token adds to a text, which need not be whole characters; the name of a
  // special one; empty for an id without a token. Throws ValueError unless 0 ≤ id < size.
  const std::string& token(TokenId id) const;

  // The ids of a text. Names of special tokens in the text are encoded as these. Throws ValueError
  // unless the text is UTF-8.
  Sequence encode(std::string_view text) const;
  // The ids with the tokens before and after them that the model expects of a whole text ("<s>"),
  // if there are any.
  Sequence with_ends(Sequence ids) const;
  // The tokens' bytes, joined, without the space that an encoded text may begin with: for ids other
  // than those of a text, they need not be UTF-8; see WholeCharacters. Throws as `token` does.
  std::string decode(std::span<const TokenId> ids) const;

 private:
  struct State;
  explicit PretrainedTokenizer(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

}  // namespace weft
