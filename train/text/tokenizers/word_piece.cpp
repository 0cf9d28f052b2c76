#include "weft/train/text/tokenizers/word_piece.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json.hpp"
#include "train/files/internal/json_entries.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Appends the added tokens that the vocabulary does not contain, in the order of their ids.
void append_added(std::vector<std::string>& tokens, TokenToId ids, const WordPieceOptions& options,
                  const std::filesystem::path& path) {
  std::vector<std::pair<TokenId, std::string>> added;
  for (const auto& [token, id] : options.added_tokens) added.emplace_back(id, token);
  std::ranges::sort(added);
  for (const auto& [id, token] : added) {
    const auto [own, is_new] = ids.emplace(token, static_cast<TokenId>(tokens.size()) + 1);
    if (is_new) tokens.push_back(token);
    if (id != own->second - 1)
      fail_on_file(path, str_cat("the id ", own->second - 1, " for an added token"),
                   str_cat(id, " for '", token, '\''));
  }
}

// Returns the tokens in the lines of a vocab.txt.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string& token = tokens.emplace_back(text, begin, end - begin);
    if (token.ends_with('\r')) token.pop_back();
  }
  return tokens;
}

// Returns the vocabulary of a tokenizer.json, in the order of its ids.
std::vector<std::string> vocabulary_of(const json& file, const std::filesystem::path& path) {
  const json& model = entry(file, "model");
  // Older files do not name the type.
  if (const json& type = entry(model, "type"); !type.is_null() && type != "WordPiece")
    fail_on_file(path, "a model of type WordPiece", shown(type));
  const json& vocabulary = entry(model, "vocab");
  if (!vocabulary.is_object()) fail_on_file(path, "a vocabulary that maps tokens to ids", "none");
  std::vector<std::string> tokens(vocabulary.size());
  for (const auto& [name, id] : vocabulary.items()) {
    const auto index = id.is_number_unsigned() ? id.get<std::size_t>() : tokens.size();
    if (index >= tokens.size() || !tokens[index].empty())
      fail_on_file(path, str_cat("each id from 0 to ", tokens.size() - 1, " once"),
                   str_cat(shown(id), " for '", name, '\''));
    tokens[index] = name;
  }
  return tokens;
}

// Returns the tokens of a vocab.txt or a tokenizer.json, followed by added tokens.
std::vector<std::string> tokens_in(const std::filesystem::path& path,
                                   const WordPieceOptions& options) {
  const std::string text = read_text(path, max_vocabulary_bytes);
  std::vector<std::string> tokens =
      path.extension() == ".json" ? vocabulary_of(parse_json(text, path), path) : lines_of(text);
  TokenToId lines;
  for (const std::string& token : tokens) {
    const auto line = static_cast<TokenId>(lines.size()) + 1;
    if (token.empty()) fail_on_file(path, "a token in each line", str_cat("an empty line ", line));
    if (const auto [first, is_new] = lines.emplace(token, line); !is_new)
      fail_on_file(path, "each token once",
                   str_cat("'", token, "' in lines ", first->second, " and ", line));
  }
  for (const char* required : {"[UNK]", "[CLS]", "[SEP]"})
    if (!lines.contains(required))
      fail_on_file(path, "a vocabulary with [UNK], [CLS] and [SEP]",
                   str_cat(tokens.size(), " tokens without ", required));
  append_added(tokens, std::move(lines), options, path);
  return tokens;
}

// Returns BERT's tokenizer.json for a vocabulary and options.
json described(const std::vector<std::string>& tokens, const WordPieceOptions& options) {
  json vocabulary = json::object(), added = json::array();
  for (std::size_t id = 0; id < tokens.size(); ++id) vocabulary[tokens[id]] = id;
  for (const char* name : {"[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"})
    if (const auto id = vocabulary.find(name); id != vocabulary.end())
      added.push_back({{"id", *id}, {"content", name}, {"special", true}, {"normalized", false}});
  for (const auto& [name, id] : options.added_tokens)
    if (std::ranges::none_of(
            added, [&, &own = name](const json& token) { return token["content"] == own; }))
      added.push_back({{"id", id}, {"content", name}, {"special", false}, {"normalized", true}});
  const json first = {"[CLS]", vocabulary["[CLS]"]}, last = {"[SEP]", vocabulary["[SEP]"]};
  return {{"added_tokens", std::move(added)},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"lowercase", options.lower_case},
            {"strip_accents", options.strip_accents.value_or(options.lower_case)}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", {{"type", "BertProcessing"}, {"cls", first}, {"sep", last}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", std::move(vocabulary)}}}};
}

// Returns how many tokens of each of two texts are kept, given their numbers of tokens and the
// limit `room` for both together.
std::pair<std::size_t, std::size_t> shares_of(std::size_t first, std::size_t second,
                                              std::size_t room) {
  if (first + second <= room) return {first, second};
  const std::size_t shorter = std::min(first, second);
  if (const std::size_t half = room / 2; shorter > half) {
    const std::size_t other = room - half;
    return first > second ? std::pair(other, half) : std::pair(half, other);
  }
  return first < second ? std::pair(first, room - first) : std::pair(room - second, second);
}

// Returns the number of tokens besides `specials` special tokens that max_len allows.
std::size_t room_of(std::optional<Index> max_len, Index specials) {
  if (!max_len) return std::string::npos;
  if (*max_len < specials)
    fail<ValueError>("WordPiece: max_len", str_cat("at least ", specials), *max_len);
  return static_cast<std::size_t>(*max_len - specials);
}

}  // namespace

WordPiece::WordPiece(const std::filesystem::path& vocabulary, const WordPieceOptions& options)
    : tokens_(tokens_in(vocabulary, options)),
      tokenizer_(PretrainedTokenizer::from_text(described(tokens_, options).dump(), vocabulary)) {}

const std::string& WordPiece::token(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("WordPiece: id", str_cat("a value from 0 to ", size() - 1), id);
  return tokens_[static_cast<std::size_t>(id)];
}

std::optional<TokenId> WordPiece::find(std::string_view token) const {
  return tokenizer_.find(token);
}

TokenIds WordPiece::encode(std::string_view text, std::optional<Index> max_len) const {
  const std::size_t room = room_of(max_len, 2);
  TokenIds ids = tokenizer_.encode(text);
  ids.resize(std::min(ids.size(), room));
  return tokenizer_.add_special_tokens(std::move(ids));
}

WordPiecePair WordPiece::encode_pair(std::string_view first, std::string_view second,
                                     std::optional<Index> max_len) const {
  const std::size_t room = room_of(max_len, 3);
  TokenIds ids = tokenizer_.encode(first), others = tokenizer_.encode(second);
  const auto [first_size, second_size] = shares_of(ids.size(), others.size(), room);
  ids.resize(first_size);
  others.resize(second_size);
  others.push_back(*find("[SEP]"));
  WordPiecePair pair{tokenizer_.add_special_tokens(std::move(ids)), {}};
  pair.segments.assign(pair.tokens.size(), 0);
  pair.tokens.insert(pair.tokens.end(), others.begin(), others.end());
  pair.segments.resize(pair.tokens.size(), 1);
  return pair;
}

std::string WordPiece::decode(std::span<const TokenId> ids) const {
  TokenIds words;
  std::ranges::copy_if(ids, std::back_inserter(words),
                       [&](TokenId id) { return !tokenizer_.is_special(id); });
  return tokenizer_.decode(words);
}

}  // namespace weft
