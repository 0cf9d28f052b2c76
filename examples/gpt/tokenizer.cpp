#include "examples/gpt/tokenizer.hpp"

#include <weft/autograd/error.hpp>
#include <weft/train/files/utf8.hpp>

namespace weft::gpt {

Tokenizer Tokenizer::of(const Configuration& configuration) {
  if (!configuration.characters.empty())
    return Tokenizer(Vocabulary::from_text(configuration.characters));
  return Tokenizer(BytePairEncoding::from_text({configuration.byte_pairs, configuration.merges}));
}

void Tokenizer::store_in(Configuration& configuration) const {
  if (const auto* characters = std::get_if<Vocabulary>(&tokens_)) {
    configuration.characters = characters->to_text();
    return;
  }
  if (std::holds_alternative<PretrainedTokenizer>(tokens_))
    fail<ValueError>("tokens", "characters or byte pairs", "those of a tokenizer.json");
  BytePairEncoding::Text text = std::get<BytePairEncoding>(tokens_).to_text();
  configuration.byte_pairs = std::move(text.vocabulary);
  configuration.merges = std::move(text.merges);
}

std::string Tokenizer::kind() const {
  return std::holds_alternative<Vocabulary>(tokens_) ? "characters" : "bytepairs";
}

Index Tokenizer::size() const {
  return std::visit([](const auto& tokens) { return tokens.size(); }, tokens_);
}

TokenIds Tokenizer::encode(std::string_view text) const {
  if (const auto* byte_pairs = std::get_if<BytePairEncoding>(&tokens_))
    return byte_pairs->encode(text);
  if (const auto* pretrained = std::get_if<PretrainedTokenizer>(&tokens_))
    return pretrained->encode(text);
  const auto& vocabulary = std::get<Vocabulary>(tokens_);
  TokenIds ids;
  for (const std::string& character : utf8_characters(text, "text")) {
    if (!vocabulary.contains(character))
      fail<ValueError>("text", str_cat("characters that the model knows (", size(), " of them)"),
                       "'" + character + "'");
    ids.push_back(vocabulary.id(character));
  }
  return ids;
}

TokenIds Tokenizer::encode_beginning(std::string_view text) const {
  const auto* pretrained = std::get_if<PretrainedTokenizer>(&tokens_);
  return pretrained ? pretrained->add_special_tokens(pretrained->encode(text)) : encode(text);
}

const std::string& Tokenizer::token(TokenId id) const {
  if (const auto* byte_pairs = std::get_if<BytePairEncoding>(&tokens_))
    return byte_pairs->token(id);
  // Models may have more tokens than their tokenizers.
  static const std::string none;
  if (const auto* pretrained = std::get_if<PretrainedTokenizer>(&tokens_))
    return id < pretrained->size() ? pretrained->token(id) : none;
  return std::get<Vocabulary>(tokens_).symbol(id);
}

TokenIds Tokenizer::ends() const {
  const auto* const byte_pairs = std::get_if<BytePairEncoding>(&tokens_);
  if (!byte_pairs) return {};
  const std::optional<TokenId> end = byte_pairs->find(BytePairEncoding::end_of_text);
  return end ? TokenIds{*end} : TokenIds();
}

TokenIds Tokenizer::beginning() const {
  if (const TokenIds end = ends(); !end.empty()) return end;
  if (const TokenIds begin = encode_beginning(""); !begin.empty()) return begin;
  try {
    return encode("\n");
  } catch (const ValueError&) {
    fail<ValueError>("prompt", "a beginning, as the model has no line break", "none");
  }
}

bool operator==(const Tokenizer& a, const Tokenizer& b) {
  const auto *x_file = std::get_if<PretrainedTokenizer>(&a.tokens_),
             *y_file = std::get_if<PretrainedTokenizer>(&b.tokens_);
  if (x_file || y_file) return x_file && y_file && x_file->to_text() == y_file->to_text();
  Configuration x, y;
  a.store_in(x);
  b.store_in(y);
  return x.characters == y.characters && x.byte_pairs == y.byte_pairs && x.merges == y.merges;
}

}  // namespace weft::gpt
