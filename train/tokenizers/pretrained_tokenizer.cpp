#include "weft/train/tokenizers/pretrained_tokenizer.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
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
#include "train/tokenizers/internal/unicode.hpp"

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

// The ids before and after a text.
struct Ends {
  Sequence before, after;
};

// Of post-processors: all but these add nothing.
Ends ends_of(const json& description) {
  const auto type = entry_or<std::string>(description, "type", "");
  Ends ends;
  if (type == "Sequence") {
    for (const json& part : entry(description, "processors"))
      if (Ends found = ends_of(part); !found.before.empty() || !found.after.empty())
        ends = std::move(found);
  } else if (type == "TemplateProcessing") {
    bool is_after = false;
    for (const json& part : entry(description, "single")) {
      const json& special = entry(part, "SpecialToken");
      if (special.is_null()) {
        is_after = true;
        continue;
      }
      const auto name = required_entry<std::string>(special, "id");
      for (const json& id : entry(entry(entry(description, "special_tokens"), name), "ids"))
        (is_after ? ends.after : ends.before).push_back(id_of({{"id", id}}));
    }
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    const json &first = entry(description, "cls"), &last = entry(description, "sep");
    if (!first.is_array() || first.size() != 2 || !last.is_array() || last.size() != 2)
      fail<ValueError>("post_processor", "cls and sep, each a token and its id", "others");
    ends = {{id_of({{"id", first[1]}})}, {id_of({{"id", last[1]}})}};
  } else if (!type.empty() && type != "ByteLevel") {
    fail<ValueError>("post_processor",
                     "TemplateProcessing, BertProcessing, RobertaProcessing or ByteLevel",
                     concatenate_text('\'', type, '\''));
  }
  return ends;
}

// How names of tokens become the bytes of a text.
struct Decoding {
  bool byte_letters = false;  // GPT-2's
  std::string space;          // what stands for a space, "▁"
  bool byte_names = false;    // "<0x0A>"
  bool strips_space = false;  // at the beginning of a text
};

void add_decoder(const json& description, Decoding& decoding) {
  const auto type = entry_or<std::string>(description, "type", "");
  if (type == "Sequence") {
    for (const json& part : entry(description, "decoders")) add_decoder(part, decoding);
  } else if (type == "ByteLevel") {
    decoding.byte_letters = true;
  } else if (type == "Metaspace") {
    decoding.space = entry_or<std::string>(description, "replacement", "▁");
    decoding.strips_space =
        entry_or<std::string>(description, "prepend_scheme", "always") != "never";
  } else if (type == "Replace") {
    const auto text = entry_or<std::string>(entry(description, "pattern"), "String", "");
    if (text.empty() || entry_or<std::string>(description, "content", "") != " ")
      fail<ValueError>("decoder", "Replace of a text by a space", description.dump());
    decoding.space = text;
  } else if (type == "ByteFallback") {
    decoding.byte_names = true;
  } else if (type == "Strip") {
    decoding.strips_space = true;
  } else if (!type.empty() && type != "Fuse") {
    fail<ValueError>("decoder", "ByteLevel, Metaspace, Replace, ByteFallback, Strip or Fuse",
                     concatenate_text('\'', type, '\''));
  }
}

std::string bytes_of(const std::string& name, const Decoding& decoding) {
  if (decoding.byte_letters) return byte_pairs::bytes_of(name).value_or(name);
  if (decoding.byte_names && name.size() == 6 && name.starts_with("<0x") && name.ends_with('>')) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(name.data() + 3, name.data() + 5, byte, 16);
    if (error == std::errc() && end == name.data() + 5)
      return std::string(1, static_cast<char>(byte));
  }
  if (decoding.space.empty()) return name;
  std::string bytes;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find(decoding.space, begin), name.size());
    bytes.append(name, begin, end - begin);
    if (end < name.size()) bytes += ' ';
    begin = end + decoding.space.size();
  }
  return bytes;
}

}  // namespace

struct PretrainedTokenizer::State {
  explicit State(std::string file_text, const json& file)
      : text(std::move(file_text)),
        normalizer(make_normalizer(entry(file, "normalizer"))),
        pre_tokenizer(make_pre_tokenizer(entry(file, "pre_tokenizer"))),
        model(
            make_token_model(entry(file, "model"), has_byte_letters(entry(file, "pre_tokenizer")))),
        ends(ends_of(entry(file, "post_processor"))) {
    add_decoder(entry(file, "decoder"), decoding);
    for (const auto& [name, id] : model->ids()) set_token(id, bytes_of(name, decoding));
    add_tokens(entry(file, "added_tokens"));
    if (tokens.empty()) fail<ValueError>("model", "a vocabulary", "an empty one");
    for (const Sequence& end : {ends.before, ends.after})
      for (const TokenId id : end)
        if (id >= std::ssize(tokens)) fail<ValueError>("post_processor", "known tokens", id);
  }

  void set_token(TokenId id, std::string bytes) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= tokens.size()) {
      tokens.resize(index + 1);
      specials.resize(index + 1);
    }
    tokens[index] = std::move(bytes);
  }

  void add_tokens(const json& list) {
    std::vector<AddedToken> of_text, of_normalized;
    for (const json& token : list) {
      const auto name = required_entry<std::string>(token, "content");
      const TokenId id = id_of(token);
      AddedToken token_added{name, id, entry_or(token, "single_word", false),
                             entry_or(token, "lstrip", false), entry_or(token, "rstrip", false)};
      const bool is_normalized = entry_or(token, "normalized", true) && normalizer;
      if (is_normalized) token_added.text = normalizer(name);
      (is_normalized ? of_normalized : of_text).push_back(std::move(token_added));
      set_token(id, name);
      names.emplace(name, id);
      specials[static_cast<std::size_t>(id)] = entry_or(token, "special", false);
    }
    added = AddedTokens(std::move(of_text));
    added_to_normalized = AddedTokens(std::move(of_normalized));
  }

  // Where the ids of a word are that was encoded before.
  struct Encoded {
    std::size_t begin, size;
  };
  using EncodedWords = std::unordered_map<std::string, Encoded, TextHash, std::equal_to<>>;

  void encode_words(std::string_view part, bool is_first, Sequence& ids,
                    EncodedWords& encoded) const {
    // Longer words are rarely repeated.
    constexpr std::size_t longest_kept = 64;
    pre_tokenizer(part, is_first, [&](std::string_view word, bool) {
      if (const auto found = encoded.find(word); found != encoded.end()) {
        for (std::size_t i = 0; i < found->second.size; ++i)
          ids.push_back(ids[found->second.begin + i]);
        return;
      }
      const std::size_t begin = ids.size();
      model->encode(word, ids);
      if (word.size() <= longest_kept) encoded.emplace(word, Encoded{begin, ids.size() - begin});
    });
  }

  // Calls `use` with the parts of a text between added tokens, whose ids it appends.
  template <class Use>
  static void divide(std::string_view part, const AddedTokens& at, Sequence& ids, const Use& use) {
    for (std::size_t begin = 0;;) {
      const AddedTokens::Found found = at.find(part, begin);
      if (found.begin > begin) use(part.substr(begin, found.begin - begin), begin == 0);
      if (!found.id) return;
      ids.push_back(*found.id);
      begin = found.end;
    }
  }

  std::string text;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenModel> model;
  Ends ends;
  Decoding decoding;
  AddedTokens added, added_to_normalized;
  TokenIds names;  // of added tokens
  std::vector<std::string> tokens;
  std::vector<bool> specials;
};

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
  const std::optional<TokenId> added = find_id(state_->names, name);
  return added ? added : find_id(state_->model->ids(), name);
}

bool PretrainedTokenizer::is_special(TokenId id) const {
  token(id);
  return state_->specials[static_cast<std::size_t>(id)];
}

const std::string& PretrainedTokenizer::token(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>("PretrainedTokenizer: token id", concatenate_text("0 ≤ id < ", size()), id);
  return state_->tokens[static_cast<std::size_t>(id)];
}

Sequence PretrainedTokenizer::encode(std::string_view text) const {
  check_utf8(text, "PretrainedTokenizer: text");
  const State& state = *state_;
  Sequence ids;
  State::EncodedWords encoded;
  State::divide(text, state.added, ids, [&](std::string_view part, bool is_first) {
    if (!state.normalizer) return state.encode_words(part, is_first, ids, encoded);
    const std::string normalized = state.normalizer(part);
    State::divide(normalized, state.added_to_normalized, ids,
                  [&](std::string_view words, bool words_are_first) {
                    state.encode_words(words, is_first && words_are_first, ids, encoded);
                  });
  });
  return ids;
}

Sequence PretrainedTokenizer::with_ends(Sequence ids) const {
  const auto& [before, after] = state_->ends;
  ids.insert(ids.begin(), before.begin(), before.end());
  ids.insert(ids.end(), after.begin(), after.end());
  return ids;
}

std::string PretrainedTokenizer::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += token(id);
  return state_->decoding.strips_space && bytes.starts_with(' ') ? bytes.substr(1) : bytes;
}

}  // namespace weft
