#include "weft/train/text/tokenizers/pretrained_tokenizer.hpp"

#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/json.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/text/tokenizers/internal/added_tokens.hpp"
#include "train/text/tokenizers/internal/step_types.hpp"
#include "train/text/tokenizers/internal/text_steps.hpp"
#include "train/text/tokenizers/internal/token_decoder.hpp"
#include "train/text/tokenizers/internal/token_model.hpp"

namespace weft {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TokenId id_of(const json& object) {
  const auto id = required_entry<std::int64_t>(object, "id");
  if (id < 0 || id > max_token_id) fail<ValueError>("id", str_cat("0 ≤ id ≤ ", max_token_id), id);
  return static_cast<TokenId>(id);
}

// Returns an entry that is a list or null.
const json& list_in(const json& object, const char* name) {
  const json& list = entry(object, name);
  if (!list.is_array() && !list.is_null()) fail<ValueError>(name, "a list", list.type_name());
  return list;
}

// The special tokens before and after a whole text.
struct Ends {
  TokenIds before, after;
};

Ends template_ends(const json& d) {
  Ends ends;
  TokenIds* current = &ends.before;
  for (const json& part : list_in(d, "single")) {
    const json& special = entry(part, "SpecialToken");
    if (special.is_null()) {
      if (current == &ends.after || entry(entry(part, "Sequence"), "id") != "A")
        fail<ValueError>("post_processor", "one sequence A in the template", shown(part));
      current = &ends.after;
      continue;
    }
    const auto name = required_entry<std::string>(special, "id");
    const json& ids = list_in(entry(entry(d, "special_tokens"), name), "ids");
    if (ids.empty())
      fail<ValueError>("post_processor", "special_tokens with the ids of " + shown(name), "none");
    for (const json& id : ids) current->push_back(id_of({{"id", id}}));
  }
  if (current != &ends.after)
    fail<ValueError>("post_processor", "one sequence A in the template", "none");
  return ends;
}

Ends pair_ends(const json& d) {
  const json &first = entry(d, "cls"), &last = entry(d, "sep");
  if (!first.is_array() || first.size() != 2 || !last.is_array() || last.size() != 2)
    fail<ValueError>("post_processor", "cls and sep, each a token and its id", "different entries");
  return {{id_of({{"id", first[1]}})}, {id_of({{"id", last[1]}})}};
}

const std::vector<StepType<Ends>>& end_types() {
  static const std::vector<StepType<Ends>> types = {
      {"TemplateProcessing", {"single", "?pair", "special_tokens"}, template_ends},
      {"BertProcessing", {"sep", "cls"}, pair_ends},
      {"RobertaProcessing", {"sep", "cls", "?trim_offsets", "?add_prefix_space"}, pair_ends},
      {"ByteLevel", {"?add_prefix_space", "?trim_offsets", "?use_regex"}, [](const json&) {
         return Ends();
       }}};
  return types;
}

}  // namespace

struct PretrainedTokenizer::State {
  State(std::string file_text, const json& file);
  void set_name(TokenId id, const std::string& name);
  void add_tokens(const json& list);
  void add_ends(const json& description);
  std::optional<TokenId> find(std::string_view name) const;
  // Appends the ids of a part of a text without added tokens.
  struct Words;
  void encode_words(std::string_view part, bool is_first, TextPass& pass, Words& words) const;

  std::string text;
  Normalizer normalizer;
  std::unique_ptr<TokenModel> model;
  PreTokenizer pre_tokenizer;
  TokenIds before, after;  // the special tokens before and after a whole text
  TokenDecoder decoder;
  AddedTokens added, added_to_normalized;
  TokenToId added_names;
  // By id: the name of the token, if it exists, and the bytes that it adds to a text.
  std::vector<std::optional<std::string>> names;
  std::vector<std::string> tokens;
  std::vector<bool> specials;
};

PretrainedTokenizer::State::State(std::string file_text, const json& file)
    : text(std::move(file_text)),
      normalizer(make_normalizer(entry(file, "normalizer"))),
      model(make_token_model(entry(file, "model"),
                             ends_with_byte_letters(entry(file, "pre_tokenizer")))),
      pre_tokenizer(make_pre_tokenizer(entry(file, "pre_tokenizer"), model->takes_bytes())),
      decoder(entry(file, "decoder")) {
  check_entries("tokenizer", file,
                {"model", "?version", "?truncation", "?padding", "?added_tokens", "?normalizer",
                 "?pre_tokenizer", "?post_processor", "?decoder"});
  if (const auto version = entry_or<std::string>(file, "version", "1.0"); version != "1.0")
    fail<ValueError>("version", "1.0", shown(version));
  for (const auto& [name, id] : model->ids()) set_name(id, name);
  if (model->ids().empty())
    fail<ValueError>("model", "a nonempty vocabulary", "an empty vocabulary");
  add_tokens(list_in(file, "added_tokens"));
  add_ends(entry(file, "post_processor"));
  for (const TokenIds& ends : {before, after})
    for (const TokenId id : ends)
      if (id >= std::ssize(names)) fail<ValueError>("post_processor", "ids of known tokens", id);
  for (const std::optional<std::string>& name : names)
    tokens.push_back(name ? decoder.bytes_of(*name) : "");
}

void PretrainedTokenizer::State::set_name(TokenId id, const std::string& name) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= names.size()) {
    names.resize(index + 1);
    specials.resize(index + 1);
  }
  names[index] = name;
}

void PretrainedTokenizer::State::add_tokens(const json& list) {
  // Tokens that the model does not contain follow its tokens, in the order of the list.
  auto next = static_cast<TokenId>(model->size());
  for (const json& token : list) {
    check_entries(
        "added_tokens", token,
        {"id", "content", "normalized", "?single_word", "?lstrip", "?rstrip", "?special"});
    const auto name = required_entry<std::string>(token, "content");
    const std::optional<TokenId> own = find(name);
    const TokenId expected = own ? *own : next++;
    if (const TokenId id = id_of(token); id != expected)
      fail<ValueError>("added_tokens", str_cat("id ", expected, " for token ", shown(name)), id);
    std::string content = name;
    const auto is_normalized = required_entry<bool>(token, "normalized");
    if (is_normalized && normalizer) {
      TextPass pass(name.size());
      content = normalizer(name, pass);
    }
    (is_normalized ? added_to_normalized : added)
        .add({content, expected, entry_or(token, "single_word", false),
              entry_or(token, "lstrip", false), entry_or(token, "rstrip", false)});
    set_name(expected, content);
    added_names.emplace(name, expected);
    specials[static_cast<std::size_t>(expected)] = entry_or(token, "special", false);
  }
}

// Other steps, such as ByteLevel, do not add tokens.
void PretrainedTokenizer::State::add_ends(const json& description) {
  bool is_added = false;
  for (const json& step : steps_of(description, "processors")) {
    const Ends ends = make_step("post_processor", end_types(), step);
    if (ends.before.empty() && ends.after.empty()) continue;
    if (is_added) fail<ValueError>("post_processor", "one step that adds tokens", "several steps");
    is_added = true;
    before = ends.before;
    after = ends.after;
  }
}

std::optional<TokenId> PretrainedTokenizer::State::find(std::string_view name) const {
  const std::optional<TokenId> id = find_id(added_names, name);
  return id ? id : find_id(model->ids(), name);
}

// The ids so far, and the position of the ids of each distinct word in them.
struct PretrainedTokenizer::State::Words {
  struct Encoded {
    std::size_t begin, size;
  };
  TokenIds ids;
  std::unordered_map<std::string, Encoded, TextHash, std::equal_to<>> encoded;
};

void PretrainedTokenizer::State::encode_words(std::string_view part, bool is_first, TextPass& pass,
                                              Words& words) const {
  // Longer words are rarely repeated.
  constexpr std::size_t longest_kept = 64;
  pre_tokenizer(part, is_first, pass, [&](std::string_view word, bool) {
    TokenIds& ids = words.ids;
    if (const auto found = words.encoded.find(word); found != words.encoded.end()) {
      for (std::size_t i = 0; i < found->second.size; ++i)
        ids.push_back(ids[found->second.begin + i]);
      return;
    }
    const std::size_t begin = ids.size();
    model->encode(word, pass.budget, ids);
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
  // Other programs, such as Keras, also write files with the name tokenizer.json.
  if (!file.contains("model"))
    fail_on_file(path, "an entry 'model', as in a Hugging Face tokenizer.json", shown(file));
  try {
    return PretrainedTokenizer(std::make_shared<const State>(std::move(text), file));
  } catch (const ValueError& error) {
    throw FileError(str_cat(quoted(path), ": ", error.what()));
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
    fail<ValueError>("token id", str_cat("a value from 0 to ", size() - 1), id);
  return state_->tokens[static_cast<std::size_t>(id)];
}

TokenIds PretrainedTokenizer::encode(std::string_view text) const {
  check_utf8(text, "text");
  const State& state = *state_;
  State::Words words;
  TextPass pass(text.size());
  state.added.divide(text, pass.budget, words.ids, [&](std::string_view part, bool is_first) {
    std::string normalized;
    pass.keeps_beginning = true;
    pass.inserts_before = false;
    if (state.normalizer) part = normalized = state.normalizer(part, pass);
    is_first = is_first && pass.keeps_beginning;
    state.added_to_normalized.divide(
        part, pass.budget, words.ids, [&](std::string_view rest, bool rest_is_first) {
          state.encode_words(rest, is_first && rest_is_first, pass, words);
        });
  });
  return std::move(words.ids);
}

TokenIds PretrainedTokenizer::add_special_tokens(TokenIds ids) const {
  ids.insert(ids.begin(), state_->before.begin(), state_->before.end());
  ids.insert(ids.end(), state_->after.begin(), state_->after.end());
  return ids;
}

std::string PretrainedTokenizer::decode(std::span<const TokenId> ids) const {
  std::vector<std::string> names;
  for (const TokenId id : ids) {
    token(id);
    if (const auto& name = state_->names[static_cast<std::size_t>(id)]) names.push_back(*name);
  }
  return state_->decoder.text_of(std::move(names));
}

}  // namespace weft
