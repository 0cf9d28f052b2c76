#include "weft/train/text/tokenizers/tokenizer.hpp"

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_without_tokens() {
  fail<ValueError>("tokenizer", "tokens", "a model without tokens");
}

// Like Vocabulary::encode_text, with an error message about the text.
TokenIds encode_characters(const Vocabulary& vocabulary, std::string_view text) {
  const auto characters = utf8_characters(text, "text");
  if (vocabulary.is_plain())
    for (const std::string& character : characters)
      if (!vocabulary.contains(character))
        fail<ValueError>(
            "text", str_cat("characters that the model knows (", vocabulary.size(), " of them)"),
            "'" + character + "'");
  return vocabulary.encode(characters);
}

}  // namespace

Tokenizer Tokenizer::load(const fs::path& folder) {
  std::error_code error;
  const auto has = [&](const char* name) { return fs::exists(folder / name, error); };
  if (has("tokenizer.json")) return PretrainedTokenizer::load(folder / "tokenizer.json");
  if (has("vocab.json") || has("merges.txt"))
    return BytePairEncoding::load(folder / "vocab.json", folder / "merges.txt");
  return {};
}

Tokenizer::Text Tokenizer::to_text() const {
  if (const auto* vocabulary = get_if<Vocabulary>()) return {"characters", vocabulary->to_text()};
  if (const auto* pretrained = get_if<PretrainedTokenizer>())
    return {"tokenizer.json", pretrained->to_text()};
  const auto* byte_pairs = get_if<BytePairEncoding>();
  if (!byte_pairs) return {};
  BytePairEncoding::Text text = byte_pairs->to_text();
  return {"byte_pairs", std::move(text.vocabulary), std::move(text.merges)};
}

Tokenizer Tokenizer::from_text(const Text& text) {
  if (text.kind == "characters") return Vocabulary::from_text(text.tokens);
  if (text.kind == "byte_pairs") return BytePairEncoding::from_text({text.tokens, text.merges});
  if (text.kind == "tokenizer.json") return PretrainedTokenizer::from_text(text.tokens);
  if (text != Text())
    fail<ValueError>("tokenizer: kind", "characters, byte_pairs, tokenizer.json or none",
                     str_cat('\'', printable(text.kind), '\''));
  return {};
}

Index Tokenizer::size() const {
  return std::visit(
      []<class Kind>(const Kind& tokens) -> Index {
        if constexpr (std::is_same_v<Kind, std::monostate>)
          return 0;
        else
          return tokens.size();
      },
      tokens_);
}

TokenIds Tokenizer::encode(std::string_view text) const {
  if (const auto* vocabulary = get_if<Vocabulary>()) return encode_characters(*vocabulary, text);
  if (const auto* byte_pairs = get_if<BytePairEncoding>()) return byte_pairs->encode(text);
  if (const auto* pretrained = get_if<PretrainedTokenizer>()) return pretrained->encode(text);
  fail_without_tokens();
}

TokenIds Tokenizer::encode_with_ends(std::string_view text) const {
  const auto* pretrained = get_if<PretrainedTokenizer>();
  return pretrained ? pretrained->add_special_tokens(pretrained->encode(text)) : encode(text);
}

const std::string& Tokenizer::token(TokenId id) const {
  if (const auto* vocabulary = get_if<Vocabulary>()) return vocabulary->symbol(id);
  if (const auto* byte_pairs = get_if<BytePairEncoding>()) return byte_pairs->token(id);
  static const std::string none;
  if (const auto* pretrained = get_if<PretrainedTokenizer>())
    return id < pretrained->size() ? pretrained->token(id) : none;
  fail_without_tokens();
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  if (const auto* pretrained = get_if<PretrainedTokenizer>()) {
    TokenIds known(ids.begin(), ids.end());
    std::erase_if(known, [&](TokenId id) { return id >= pretrained->size(); });
    return pretrained->decode(known);
  }
  std::string text;
  for (const TokenId id : ids) text += token(id);
  return text;
}

TokenIds Tokenizer::eos_token_ids() const {
  const auto* const byte_pairs = get_if<BytePairEncoding>();
  if (!byte_pairs) return {};
  const std::optional<TokenId> end = byte_pairs->find(BytePairEncoding::end_of_text);
  return end ? TokenIds{*end} : TokenIds();
}

}  // namespace weft
