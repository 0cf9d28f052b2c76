#include "weft/train/tokenizers/pretrained_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/files/file_descriptor.hpp"
#include "train/tokenizers/internal/added_tokens.hpp"
#include "train/tokenizers/internal/byte_letters.hpp"
#include "train/tokenizers/internal/json_entries.hpp"
#include "train/tokenizers/internal/text_steps.hpp"
#include "train/tokenizers/internal/token_model.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TokenId id_of(const json& object) {
  const auto id = required_entry<std::int64_t>(object, "id");
  if (id < 0 || id > max_token_id)
    fail<ValueError>("id", concatenate_text("0 ≤ id ≤ ", max_token_id), id);
  return static_cast<TokenId>(id);
}

// The list of an object, which may have none.
const json& list_in(const json& object, const char* name) {
  const json& list = entry(object, name);
  if (!list.is_array() && !list.is_null()) fail<ValueError>(name, "a list", list.type_name());
  return list;
}

std::string replaced(const std::string& text, const std::string& part, char replacement) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(part, begin), text.size());
    result.append(text, begin, end - begin);
    if (end < text.size()) result += replacement;
    begin = end + part.size();
  }
  return result;
}

// How names of tokens become the bytes of a text.
struct Decoding {
  bool byte_letters = false;  // GPT-2's
  std::string space;          // what stands for a space, "▁"
  bool byte_names = false;    // "<0x0A>"
  bool strips_space = false;  // at the beginning of a text
  bool separates = false;     // a space before each token but one that begins with
  std::string continuation;   // this, "##", which is removed,
  bool joins_marks = false;   // or with a punctuation mark
};

}  // namespace

struct PretrainedTokenizer::State {
  State(std::string file_text, const json& file);
  void add_decoder(const json& description);
  std::string bytes_of(const std::string& name) const;
  void set_token(TokenId id, std::string bytes);
  void add_tokens(const json& list);
  void add_ends(const json& description);
  std::optional<TokenId> find(std::string_view name) const;
  // Appends the ids of a part of a text without added tokens.
  struct Words;
  void encode_words(std::string_view part, bool is_first, Words& words) const;

  std::string text;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenModel> model;
  Sequence before, after;  // a whole text
  Decoding decoding;
  AddedTokens added, added_to_normalized;
  TokenIds added_names;
  std::vector<std::string> tokens;
  std::vector<bool> specials;
};

PretrainedTokenizer::State::State(std::string file_text, const json& file)
    : text(std::move(file_text)),
      normalizer(make_normalizer(entry(file, "normalizer"))),
      pre_tokenizer(make_pre_tokenizer(entry(file, "pre_tokenizer"))),
      model(
          make_token_model(entry(file, "model"), has_byte_letters(entry(file, "pre_tokenizer")))) {
  const json& decoder = entry(file, "decoder");
  decoding.separates = decoding.strips_space = decoder.is_null();
  add_decoder(decoder);
  for (const auto& [token, id] : model->ids()) set_token(id, bytes_of(token));
  add_tokens(list_in(file, "added_tokens"));
  if (model->ids().empty()) fail<ValueError>("model", "a vocabulary", "an empty one");
  add_ends(entry(file, "post_processor"));
  for (const Sequence& ends : {before, after})
    for (const TokenId id : ends)
      if (id >= std::ssize(tokens)) fail<ValueError>("post_processor", "known tokens", id);
}

void PretrainedTokenizer::State::add_decoder(const json& description) {
  const auto type = entry_or<std::string>(description, "type", "");
  if (type == "Sequence") {
    for (const json& part : list_in(description, "decoders")) add_decoder(part);
  } else if (type == "ByteLevel") {
    decoding.byte_letters = true;
  } else if (type == "WordPiece") {
    decoding.separates = decoding.strips_space = true;
    decoding.continuation = entry_or<std::string>(description, "prefix", "##");
    decoding.joins_marks = entry_or(description, "cleanup", true);
  } else if (type == "Metaspace") {
    decoding.space = entry_or<std::string>(description, "replacement", "▁");
    decoding.strips_space =
        entry_or<std::string>(description, "prepend_scheme", "always") != "never";
  } else if (type == "Replace") {
    decoding.space = entry_or<std::string>(entry(description, "pattern"), "String", "");
    if (decoding.space.empty() || entry_or<std::string>(description, "content", "") != " ")
      fail<ValueError>("decoder", "Replace of a text by a space", shown(description));
  } else if (type == "ByteFallback") {
    decoding.byte_names = true;
  } else if (type == "Strip") {
    decoding.strips_space = true;
  } else if (!type.empty() && type != "Fuse") {
    fail<ValueError>("decoder",
                     "ByteLevel, WordPiece, Metaspace, Replace, ByteFallback, Strip or Fuse",
                     shown(type));
  }
}

std::string PretrainedTokenizer::State::bytes_of(const std::string& name) const {
  if (decoding.byte_letters) return byte_pairs::bytes_of(name).value_or(name);
  if (decoding.separates) {
    if (!decoding.continuation.empty() && name.starts_with(decoding.continuation))
      return name.substr(decoding.continuation.size());
    constexpr std::array marks = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
    const bool joins = decoding.joins_marks && std::ranges::any_of(marks, [&](const char* mark) {
                         return name.starts_with(mark);
                       });
    return joins ? name : ' ' + name;
  }
  if (decoding.byte_names && name.size() == 6 && name.starts_with("<0x") && name.ends_with('>')) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(name.data() + 3, name.data() + 5, byte, 16);
    if (error == std::errc() && end == name.data() + 5)
      return std::string(1, static_cast<char>(byte));
  }
  return decoding.space.empty() ? name : replaced(name, decoding.space, ' ');
}

void PretrainedTokenizer::State::set_token(TokenId id, std::string bytes) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= tokens.size()) {
    tokens.resize(index + 1);
    specials.resize(index + 1);
  }
  tokens[index] = std::move(bytes);
}

void PretrainedTokenizer::State::add_tokens(const json& list) {
  for (const json& token : list) {
    const auto name = required_entry<std::string>(token, "content");
    const TokenId id = id_of(token);
    const std::optional<TokenId> own = find(name);
    if (own ? *own != id : id < std::ssize(tokens) && !tokens[static_cast<std::size_t>(id)].empty())
      fail<ValueError>("added_tokens",
                       own ? concatenate_text("id ", *own, ", as before, for token ", shown(name))
                           : concatenate_text("an id of its own for token ", shown(name)),
                       id);
    const bool is_normalized = entry_or(token, "normalized", true) && normalizer;
    (is_normalized ? added_to_normalized : added)
        .add({is_normalized ? normalizer(name) : name, id, entry_or(token, "single_word", false),
              entry_or(token, "lstrip", false), entry_or(token, "rstrip", false)});
    set_token(id, decoding.separates ? bytes_of(name) : name);
    added_names.emplace(name, id);
    specials[static_cast<std::size_t>(id)] = entry_or(token, "special", false);
  }
}

// All post-processors but these add nothing.
void PretrainedTokenizer::State::add_ends(const json& description) {
  const auto type = entry_or<std::string>(description, "type", "");
  if (type == "Sequence") {
    for (const json& part : list_in(description, "processors")) add_ends(part);
  } else if (type == "TemplateProcessing") {
    Sequence* ends = &before;
    for (const json& part : list_in(description, "single")) {
      const json& special = entry(part, "SpecialToken");
      if (special.is_null()) {
        ends = &after;
        continue;
      }
      const auto name = required_entry<std::string>(special, "id");
      const json& ids = list_in(entry(entry(description, "special_tokens"), name), "ids");
      if (ids.empty())
        fail<ValueError>("post_processor", "special_tokens with the ids of " + shown(name), "none");
      for (const json& id : ids) ends->push_back(id_of({{"id", id}}));
    }
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    const json &first = entry(description, "cls"), &last = entry(description, "sep");
    if (!first.is_array() || first.size() != 2 || !last.is_array() || last.size() != 2)
      fail<ValueError>("post_processor", "cls and sep, each a token and its id", "others");
    before = {id_of({{"id", first[1]}})};
    after = {id_of({{"id", last[1]}})};
  } else if (!type.empty() && type != "ByteLevel") {
    fail<ValueError>("post_processor",
                     "TemplateProcessing, BertProcessing, RobertaProcessing or ByteLevel",
                     shown(type));
  }
}

std::optional<TokenId> PretrainedTokenizer::State::find(std::string_view name) const {
  const std::optional<TokenId> id = find_id(added_names, name);
  return id ? id : find_id(model->ids(), name);
}

// The ids so far, and where those of words are that were encoded before.
struct PretrainedTokenizer::State::Words {
  struct Encoded {
    std::size_t begin, size;
  };
  Sequence ids;
  std::unordered_map<std::string, Encoded, TextHash, std::equal_to<>> encoded;
};

void PretrainedTokenizer::State::encode_words(std::string_view part, bool is_first,
                                              Words& words) const {
  // Longer words are rarely repeated.
  constexpr std::size_t longest_kept = 64;
  pre_tokenizer(part, is_first, [&](std::string_view word, bool) {
    Sequence& ids = words.ids;
    if (const auto found = words.encoded.find(word); found != words.encoded.end()) {
      for (std::size_t i = 0; i < found->second.size; ++i)
        ids.push_back(ids[found->second.begin + i]);
      return;
    }
    const std::size_t begin = ids.size();
    model->encode(word, ids);
    if (word.size() <= longest_kept)
      words.encoded.emplace(word, Words::Encoded{begin, ids.size() - begin});
  });
}

PretrainedTokenizer::PretrainedTokenizer(std::shared_ptr<const State> state)
    : state_(std::move(state)) {}

PretrainedTokenizer PretrainedTokenizer::load(const fs::path& path) {
  return from_text(read_text(path, max_vocabulary_bytes), path);
}

PretrainedTokenizer PretrainedTokenizer::from_text(std::string text, const fs::path& path) {
  const json file = parse_json(text, path);
  try {
    return PretrainedTokenizer(std::make_shared<const State>(std::move(text), file));
  } catch (const ValueError& error) {
    throw FileError(concatenate_text(quoted(path), ": ", error.what()));
  }
}

const std::string& PretrainedTokenizer::to_text() const { return state_->text; }

Index PretrainedTokenizer::size() const { return std::ssize(state_->tokens); }

std::optional<TokenId> PretrainedTokenizer::find(std::string_view name) const {
  return state_->find(name);
}

bool PretrainedTokenizer::is_special(TokenId id) const {
  token(id);
  return state_->specials[static_cast<std::size_t>(id)];
}

const std::string& PretrainedTokenizer::token(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("token id", concatenate_text("0 ≤ id < ", size()), id);
  return state_->tokens[static_cast<std::size_t>(id)];
}

Sequence PretrainedTokenizer::encode(std::string_view text) const {
  check_utf8(text, "text");
  const State& state = *state_;
  State::Words words;
  state.added.divide(text, words.ids, [&](std::string_view part, bool is_first) {
    if (!state.normalizer) return state.encode_words(part, is_first, words);
    const std::string normalized = state.normalizer(part);
    state.added_to_normalized.divide(normalized, words.ids,
                                     [&](std::string_view rest, bool rest_is_first) {
                                       state.encode_words(rest, is_first && rest_is_first, words);
                                     });
  });
  return std::move(words.ids);
}

Sequence PretrainedTokenizer::with_ends(Sequence ids) const {
  ids.insert(ids.begin(), state_->before.begin(), state_->before.end());
  ids.insert(ids.end(), state_->after.begin(), state_->after.end());
  return ids;
}

std::string PretrainedTokenizer::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += token(id);
  if (state_->decoding.strips_space && bytes.starts_with(' ')) return bytes.substr(1);
  // Nothing is before the first token that it could continue.
  if (const std::string& prefix = state_->decoding.continuation; !prefix.empty() && !ids.empty())
    if (find(prefix + token(ids.front())) == ids.front()) return prefix + bytes;
  return bytes;
}

}  // namespace weft
