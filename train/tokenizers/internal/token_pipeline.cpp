#include "train/tokenizers/internal/token_pipeline.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/tokenizers/internal/byte_letters.hpp"
#include "train/tokenizers/internal/json_entries.hpp"

namespace weft {
namespace {

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

}  // namespace

TokenPipeline::TokenPipeline(const char* name, const json& file)
    : name_(name),
      normalizer_(make_normalizer(entry(file, "normalizer"))),
      pre_tokenizer_(make_pre_tokenizer(entry(file, "pre_tokenizer"))),
      model_(
          make_token_model(entry(file, "model"), has_byte_letters(entry(file, "pre_tokenizer")))) {
  const json& decoder = entry(file, "decoder");
  decoding_.separates = decoding_.strips_space = decoder.is_null();
  add_decoder(decoder);
  for (const auto& [token, id] : model_->ids()) set_token(id, bytes_of(token));
  add_tokens(list_in(file, "added_tokens"));
  if (tokens_.empty()) fail<ValueError>("model", "a vocabulary", "an empty one");
  add_ends(entry(file, "post_processor"));
  for (const Sequence& ends : {before_, after_})
    for (const TokenId id : ends)
      if (id >= size()) fail<ValueError>("post_processor", "known tokens", id);
}

void TokenPipeline::add_decoder(const json& description) {
  const auto type = entry_or<std::string>(description, "type", "");
  if (type == "Sequence") {
    for (const json& part : list_in(description, "decoders")) add_decoder(part);
  } else if (type == "ByteLevel") {
    decoding_.byte_letters = true;
  } else if (type == "WordPiece") {
    decoding_.separates = decoding_.strips_space = true;
    decoding_.continuation = entry_or<std::string>(description, "prefix", "##");
    decoding_.joins_marks = entry_or(description, "cleanup", true);
  } else if (type == "Metaspace") {
    decoding_.space = entry_or<std::string>(description, "replacement", "▁");
    decoding_.strips_space =
        entry_or<std::string>(description, "prepend_scheme", "always") != "never";
  } else if (type == "Replace") {
    decoding_.space = entry_or<std::string>(entry(description, "pattern"), "String", "");
    if (decoding_.space.empty() || entry_or<std::string>(description, "content", "") != " ")
      fail<ValueError>("decoder", "Replace of a text by a space", shown(description));
  } else if (type == "ByteFallback") {
    decoding_.byte_names = true;
  } else if (type == "Strip") {
    decoding_.strips_space = true;
  } else if (!type.empty() && type != "Fuse") {
    fail<ValueError>("decoder",
                     "ByteLevel, WordPiece, Metaspace, Replace, ByteFallback, Strip or Fuse",
                     shown(type));
  }
}

std::string TokenPipeline::bytes_of(const std::string& name) const {
  if (decoding_.byte_letters) return byte_pairs::bytes_of(name).value_or(name);
  if (decoding_.separates) {
    if (!decoding_.continuation.empty() && name.starts_with(decoding_.continuation))
      return name.substr(decoding_.continuation.size());
    constexpr std::array marks = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
    const bool joins = decoding_.joins_marks && std::ranges::any_of(marks, [&](const char* mark) {
                         return name.starts_with(mark);
                       });
    return joins ? name : ' ' + name;
  }
  if (decoding_.byte_names && name.size() == 6 && name.starts_with("<0x") && name.ends_with('>')) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(name.data() + 3, name.data() + 5, byte, 16);
    if (error == std::errc() && end == name.data() + 5)
      return std::string(1, static_cast<char>(byte));
  }
  return decoding_.space.empty() ? name : replaced(name, decoding_.space, ' ');
}

void TokenPipeline::set_token(TokenId id, std::string bytes) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= tokens_.size()) {
    tokens_.resize(index + 1);
    specials_.resize(index + 1);
  }
  tokens_[index] = std::move(bytes);
}

void TokenPipeline::add_tokens(const json& list) {
  for (const json& token : list) {
    const auto name = required_entry<std::string>(token, "content");
    const TokenId id = id_of(token);
    const std::optional<TokenId> own = find(name);
    if (own ? *own != id : id < size() && !this->token(id).empty())
      fail<ValueError>("added_tokens",
                       own ? concatenate_text("id ", *own, ", as before, for token ", shown(name))
                           : concatenate_text("an id of its own for token ", shown(name)),
                       id);
    const bool is_normalized = entry_or(token, "normalized", true) && normalizer_;
    (is_normalized ? added_to_normalized_ : added_)
        .add({is_normalized ? normalizer_(name) : name, id, entry_or(token, "single_word", false),
              entry_or(token, "lstrip", false), entry_or(token, "rstrip", false)});
    set_token(id, decoding_.separates ? bytes_of(name) : name);
    added_names_.emplace(name, id);
    specials_[static_cast<std::size_t>(id)] = entry_or(token, "special", false);
  }
}

// All post-processors but these add nothing.
void TokenPipeline::add_ends(const json& description) {
  const auto type = entry_or<std::string>(description, "type", "");
  if (type == "Sequence") {
    for (const json& part : list_in(description, "processors")) add_ends(part);
  } else if (type == "TemplateProcessing") {
    Sequence* ends = &before_;
    for (const json& part : list_in(description, "single")) {
      const json& special = entry(part, "SpecialToken");
      if (special.is_null()) {
        ends = &after_;
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
    before_ = {id_of({{"id", first[1]}})};
    after_ = {id_of({{"id", last[1]}})};
  } else if (!type.empty() && type != "ByteLevel") {
    fail<ValueError>("post_processor",
                     "TemplateProcessing, BertProcessing, RobertaProcessing or ByteLevel",
                     shown(type));
  }
}

std::optional<TokenId> TokenPipeline::find(std::string_view name) const {
  const std::optional<TokenId> added = find_id(added_names_, name);
  return added ? added : find_id(model_->ids(), name);
}

bool TokenPipeline::is_special(TokenId id) const {
  token(id);
  return specials_[static_cast<std::size_t>(id)];
}

const std::string& TokenPipeline::token(TokenId id) const {
  if (id < 0 || id >= size())
    fail<ValueError>(concatenate_text(name_, ": token id"), concatenate_text("0 ≤ id < ", size()),
                     id);
  return tokens_[static_cast<std::size_t>(id)];
}

// The ids so far, and where those of words are that were encoded before.
struct TokenPipeline::Words {
  struct Encoded {
    std::size_t begin, size;
  };
  Sequence ids;
  std::unordered_map<std::string, Encoded, TextHash, std::equal_to<>> encoded;
};

void TokenPipeline::encode_words(std::string_view part, bool is_first, Words& words) const {
  // Longer words are rarely repeated.
  constexpr std::size_t longest_kept = 64;
  pre_tokenizer_(part, is_first, [&](std::string_view word, bool) {
    Sequence& ids = words.ids;
    if (const auto found = words.encoded.find(word); found != words.encoded.end()) {
      for (std::size_t i = 0; i < found->second.size; ++i)
        ids.push_back(ids[found->second.begin + i]);
      return;
    }
    const std::size_t begin = ids.size();
    model_->encode(word, ids);
    if (word.size() <= longest_kept)
      words.encoded.emplace(word, Words::Encoded{begin, ids.size() - begin});
  });
}

Sequence TokenPipeline::encode(std::string_view text) const {
  check_utf8(text, concatenate_text(name_, ": text"));
  Words words;
  added_.divide(text, words.ids, [&](std::string_view part, bool is_first) {
    if (!normalizer_) return encode_words(part, is_first, words);
    const std::string normalized = normalizer_(part);
    added_to_normalized_.divide(normalized, words.ids,
                                [&](std::string_view rest, bool rest_is_first) {
                                  encode_words(rest, is_first && rest_is_first, words);
                                });
  });
  return std::move(words.ids);
}

Sequence TokenPipeline::with_ends(Sequence ids) const {
  ids.insert(ids.begin(), before_.begin(), before_.end());
  ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

std::string TokenPipeline::decode(std::span<const TokenId> ids) const {
  std::string bytes;
  for (const TokenId id : ids) bytes += token(id);
  if (decoding_.strips_space && bytes.starts_with(' ')) return bytes.substr(1);
  // Nothing is before the first token that it could continue.
  if (const std::string& prefix = decoding_.continuation; !prefix.empty() && !ids.empty())
    if (find(prefix + token(ids.front())) == ids.front()) return prefix + bytes;
  return bytes;
}

}  // namespace weft
