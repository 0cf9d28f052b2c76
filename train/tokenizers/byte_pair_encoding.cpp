#include "weft/train/tokenizers/byte_pair_encoding.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/files/atomic_file.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/byte_letters.hpp"
#include "train/tokenizers/internal/learn_merges.hpp"
#include "train/tokenizers/internal/merges.hpp"
#include "train/tokenizers/internal/token_files.hpp"
#include "train/tokenizers/internal/words.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;

using byte_pairs::letters_of;

TokenIds ids_of(const std::vector<std::string>& tokens) {
  TokenIds ids;
  ids.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id)
    ids.emplace(tokens[id], static_cast<TokenId>(id));
  return ids;
}

std::optional<TokenId> find_in(const TokenIds& ids, std::string_view token) {
  const auto found = ids.find(token);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

// The parts of a text before, between and after the occurrences of the end of a text.
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

}  // namespace

struct BytePairEncoding::State {
  // Errors name the files that the tokens are from.
  State(byte_pairs::NamedTokens all, const fs::path& vocabulary_file, const fs::path& merges_file)
      : named(std::move(all)), tokens(named.names) {
    const TokenIds ids_by_name = ids_of(named.names);
    std::vector<bool> is_ordinary(tokens.size());  // what a byte or a merge gives
    const auto use = [&](TokenId id) {
      is_ordinary[static_cast<std::size_t>(id)] = true;
      return id;
    };
    for (const std::uint8_t byte : byte_pairs::bytes_in_order()) {
      const std::string letter = letters_of(std::string(1, static_cast<char>(byte)));
      const std::optional<TokenId> id = find_in(ids_by_name, letter);
      if (!id)
        fail_on_file(vocabulary_file, "a token for each byte",
                     concatenate_text("no token '", letter, '\''));
      byte_ids[byte] = use(*id);
    }
    for (const auto& [first, second, line] : named.merges) {
      for (const std::string& name : {first, second, first + second})
        if (!find_in(ids_by_name, name) || !byte_pairs::bytes_of(name))
          byte_pairs::fail_on_line(merges_file, line, "tokens of " + quoted(vocabulary_file),
                                   concatenate_text('\'', name.substr(0, 80), '\''));
      const TokenId result = use(*find_in(ids_by_name, first + second));
      if (!merges.add({*find_in(ids_by_name, first), *find_in(ids_by_name, second)}, result))
        byte_pairs::fail_on_line(merges_file, line, "a pair of tokens that was not there before",
                                 "the same again");
    }
    for (std::size_t id = 0; id < tokens.size(); ++id)
      if (is_ordinary[id])
        tokens[id] = *byte_pairs::bytes_of(tokens[id]);
      else
        special.push_back(static_cast<TokenId>(id));
    ids = ids_of(tokens);
    // The longest of those that begin at a place is found first.
    std::ranges::stable_sort(special, std::greater<>(),
                             [&](TokenId id) { return token(id).size(); });
    for (const TokenId id : special)
      if (const char first = token(id).front(); first_bytes.find(first) == std::string::npos)
        first_bytes += first;
  }

  const std::string& token(TokenId id) const { return tokens[static_cast<std::size_t>(id)]; }

  // A special token and where it is in a text; without one, the end of the text.
  struct Found {
    std::size_t at;
    std::optional<TokenId> id;
  };
  Found find_special(std::string_view text, std::size_t begin) const {
    if (special.empty()) return {text.size(), {}};
    for (std::size_t at = text.find_first_of(first_bytes, begin); at < text.size();
         at = text.find_first_of(first_bytes, at + 1))
      for (const TokenId id : special)
        if (text.substr(at).starts_with(token(id))) return {at, id};
    return {text.size(), {}};
  }

  // Where the ids of a word are that was encoded before.
  struct Encoded {
    std::size_t begin, size;
  };
  using EncodedWords = std::unordered_map<std::string_view, Encoded>;

  // Appends the ids of a text without special tokens.
  void encode(std::string_view text, Sequence& result, EncodedWords& encoded) const {
    Sequence word;
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = byte_pairs::word_end(text, begin);
      const std::string_view bytes = text.substr(begin, end - begin);
      if (const auto found = encoded.find(bytes); found != encoded.end()) {
        for (std::size_t i = 0; i < found->second.size; ++i)
          result.push_back(result[found->second.begin + i]);
        continue;
      }
      word.clear();
      for (const char byte : bytes) word.push_back(byte_ids[static_cast<std::uint8_t>(byte)]);
      merges.apply(word);
      encoded.emplace(bytes, Encoded{result.size(), word.size()});
      result.insert(result.end(), word.begin(), word.end());
    }
  }

  byte_pairs::NamedTokens named;    // as in the files
  std::vector<std::string> tokens;  // as bytes, special ones by name
  TokenIds ids;
  std::vector<TokenId> special;
  std::string first_bytes;  // of the special tokens
  std::array<TokenId, 256> byte_ids = {};
  byte_pairs::Merges merges;
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
  byte_pairs::NamedTokens named{byte_pairs::parse_vocabulary(text.vocabulary, vocabulary),
                                byte_pairs::parse_merges(text.merges, merges)};
  return BytePairEncoding(std::make_shared<const State>(std::move(named), vocabulary, merges));
}

BytePairEncoding BytePairEncoding::learn(std::string_view text, Index vocabulary_size) {
  constexpr Index least = 257;
  if (vocabulary_size < least)
    fail<ValueError>("BytePairEncoding: vocabulary_size",
                     concatenate_text("at least ", least, " (the bytes, and the end of a text)"),
                     vocabulary_size);
  check_utf8(text, "BytePairEncoding: text");
  byte_pairs::NamedTokens learned =
      byte_pairs::learn_merges(split_at_ends(text), static_cast<std::size_t>(vocabulary_size - 1));
  learned.names.emplace_back(end_of_text);
  return BytePairEncoding(std::make_shared<const State>(std::move(learned), "", ""));
}

BytePairEncoding::Text BytePairEncoding::to_text() const {
  return {byte_pairs::vocabulary_text(state_->named.names),
          byte_pairs::merges_text(state_->named.merges)};
}

void BytePairEncoding::save(const fs::path& vocabulary, const fs::path& merges) const {
  const Text text = to_text();
  write_atomically(vocabulary, std::as_bytes(std::span(text.vocabulary)));
  write_atomically(merges, std::as_bytes(std::span(text.merges)));
}

Index BytePairEncoding::size() const { return std::ssize(state_->tokens); }

std::optional<TokenId> BytePairEncoding::find(std::string_view token) const {
  return find_in(state_->ids, token);
}

const std::string& BytePairEncoding::token(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("BytePairEncoding: token id", concatenate_text("0 ≤ id < ", size()), id);
  return state_->token(id);
}

Sequence BytePairEncoding::encode(std::string_view text) const {
  check_utf8(text, "BytePairEncoding: text");
  Sequence ids;
  State::EncodedWords encoded;
  for (std::size_t begin = 0;;) {
    const auto [at, special] = state_->find_special(text, begin);
    state_->encode(text.substr(begin, at - begin), ids, encoded);
    if (!special) return ids;
    ids.push_back(*special);
    begin = at + token(*special).size();
  }
}

std::string BytePairEncoding::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += token(id);
  return bytes;
}

}  // namespace weft
