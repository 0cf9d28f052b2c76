#include "weft/train/text/tokenizers/byte_pair_encoding.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "weft/train/text/tokenizers/pretrained_tokenizer.hpp"
#include "train/files/internal/atomic_file.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/text/tokenizers/internal/byte_letters.hpp"
#include "train/text/tokenizers/internal/learn_merges.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using byte_pairs::NamedTokens;
using nlohmann::json;

// Returns the parts of a text between occurrences of the end-of-text token.
std::vector<std::string_view> split_at_ends(std::string_view text) {
  constexpr std::string_view end = BytePairEncoding::end_of_text;
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(end); at != text.npos; at = text.find(end)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + end.size());
  }
  parts.push_back(text);
  return parts;
}

// Returns the names of vocab.json in the order of their ids.
std::vector<std::string> names_in(std::string_view text, const fs::path& path) {
  const json object = parse_json(text, path);
  if (!object.is_object())
    fail_on_file(path, "an object that maps tokens to ids", object.type_name());
  std::vector<std::string> names(object.size());
  for (const auto& [name, id] : object.items()) {
    if (name.empty()) fail_on_file(path, "nonempty tokens", "''");
    if (!id.is_number_integer())
      fail_on_file(path, "an integer for token " + shown(name), id.type_name());
    const bool is_in_range =
        id.is_number_unsigned() && id.get<std::uint64_t>() < std::uint64_t{names.size()};
    if (!is_in_range || !names[id.get<std::size_t>()].empty())
      fail_on_file(path, str_cat("each id from 0 to ", names.size() - 1, " once"),
                   id.dump() + " for token " + shown(name));
    names[id.get<std::size_t>()] = name;
  }
  return names;
}

// Returns the pairs of merges.txt.
std::vector<std::pair<std::string, std::string>> pairs_in(std::string_view text,
                                                          const fs::path& path) {
  std::vector<std::pair<std::string, std::string>> pairs;
  std::size_t number = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    if (line.ends_with('\r')) line.pop_back();
    if (++number == 1 && line.starts_with("#version")) continue;
    const std::size_t space = line.find(' ');
    if (space == line.npos || space == 0 || space + 1 == line.size() ||
        line.find(' ', space + 1) != line.npos)
      fail<FileError>(str_cat(quoted(path), ", line ", number), "two tokens separated by a space",
                      shown(line));
    pairs.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return pairs;
}

// Returns a tokenizer.json. Tokens that are neither bytes nor results of merges become added
// tokens.
json described(const NamedTokens& all, const fs::path& vocabulary_path) {
  std::set<std::string> added(all.names.begin(), all.names.end());
  for (const std::uint8_t byte : byte_pairs::bytes_in_order()) {
    const std::string letter = byte_pairs::letters_of(std::string(1, static_cast<char>(byte)));
    if (added.erase(letter) == 0)
      fail_on_file(vocabulary_path, "a token for each byte", "no token " + shown(letter));
  }
  json vocabulary = json::object(), merges = json::array(), added_tokens = json::array();
  for (const auto& [first, second] : all.merges) {
    added.erase(first + second);
    merges.push_back({first, second});
  }
  for (std::size_t id = 0; id < all.names.size(); ++id) {
    const std::string& name = all.names[id];
    vocabulary[name] = id;
    if (added.contains(name))
      added_tokens.push_back(
          {{"id", id}, {"content", name}, {"special", true}, {"normalized", false}});
  }
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
  return {{"added_tokens", std::move(added_tokens)},
          {"pre_tokenizer", byte_level},
          {"decoder", byte_level},
          {"model",
           {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", std::move(merges)}}}};
}

}  // namespace

struct BytePairEncoding::State {
  // Error messages name the two files.
  State(NamedTokens all, const fs::path& vocabulary, const fs::path& merges)
      : named(std::move(all)),
        tokenizer(PretrainedTokenizer::from_text(described(named, vocabulary).dump(), merges)) {}

  NamedTokens named;  // as in the files
  PretrainedTokenizer tokenizer;
};

BytePairEncoding::BytePairEncoding(std::shared_ptr<const State> state) : state_(std::move(state)) {}

BytePairEncoding BytePairEncoding::load(const fs::path& vocabulary, const fs::path& merges) {
  return parse(
      {read_text(vocabulary, max_vocabulary_bytes), read_text(merges, max_vocabulary_bytes)},
      vocabulary, merges);
}

BytePairEncoding BytePairEncoding::from_text(const Text& text) {
  return parse(text, "vocab.json", "merges.txt");
}

BytePairEncoding BytePairEncoding::parse(const Text& text, const fs::path& vocabulary,
                                         const fs::path& merges) {
  NamedTokens named{names_in(text.vocabulary, vocabulary), pairs_in(text.merges, merges)};
  return BytePairEncoding(std::make_shared<const State>(std::move(named), vocabulary, merges));
}

BytePairEncoding BytePairEncoding::learn(std::string_view text, Index vocabulary_size) {
  constexpr Index least = 257;
  if (vocabulary_size < least)
    fail<ValueError>("BytePairEncoding: vocabulary_size",
                     str_cat("at least ", least, " (the bytes and the end-of-text token)"),
                     vocabulary_size);
  check_utf8(text, "BytePairEncoding: text");
  NamedTokens learned =
      byte_pairs::learn_merges(split_at_ends(text), static_cast<std::size_t>(vocabulary_size - 1));
  learned.names.emplace_back(end_of_text);
  return BytePairEncoding(std::make_shared<const State>(std::move(learned), "", ""));
}

BytePairEncoding::Text BytePairEncoding::to_text() const {
  const auto& [names, merges] = state_->named;
  Text text{"{", "#version: 0.2\n"};
  for (std::size_t id = 0; id < names.size(); ++id)
    text.vocabulary += str_cat(id > 0 ? "," : "", json(names[id]).dump(), ':', id);
  text.vocabulary += "}\n";
  for (const auto& [first, second] : merges) text.merges += first + ' ' + second + '\n';
  return text;
}

void BytePairEncoding::save(const fs::path& vocabulary, const fs::path& merges) const {
  const Text text = to_text();
  write_atomically(vocabulary, std::as_bytes(std::span(text.vocabulary)));
  write_atomically(merges, std::as_bytes(std::span(text.merges)));
}

Index BytePairEncoding::size() const { return state_->tokenizer.size(); }

std::optional<TokenId> BytePairEncoding::find(std::string_view token) const {
  for (const std::string& name : {byte_pairs::letters_of(token), std::string(token)})
    if (const auto id = state_->tokenizer.find(name); id && state_->tokenizer.token(*id) == token)
      return id;
  return std::nullopt;
}

// Names of special tokens are not written in the letters of bytes.
const std::string& BytePairEncoding::token(TokenId id) const {
  return state_->tokenizer.is_special(id) ? state_->named.names[static_cast<std::size_t>(id)]
                                          : state_->tokenizer.token(id);
}

TokenIds BytePairEncoding::encode(std::string_view text) const {
  return state_->tokenizer.encode(text);
}

std::string BytePairEncoding::decode(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) text += token(id);
  return text;
}

}  // namespace weft
