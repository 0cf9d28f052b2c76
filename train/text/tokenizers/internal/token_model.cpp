#include "train/text/tokenizers/internal/token_model.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "train/text/tokenizers/internal/byte_letters.hpp"
#include "train/text/tokenizers/internal/merges.hpp"
#include "train/text/tokenizers/internal/step_types.hpp"
#include "train/text/tokenizers/internal/token_tree.hpp"
#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

using nlohmann::json;

// Reads an object that maps names to ids. Throws ValueError for a repeated id.
TokenToId ids_in(const json& vocabulary) {
  if (!vocabulary.is_object())
    fail<ValueError>("vocab", "an object that maps tokens to ids", vocabulary.type_name());
  TokenToId ids;
  std::vector<bool> is_used(std::size_t{max_token_id} + 1);
  for (const auto& [name, value] : vocabulary.items()) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t{max_token_id})
      fail<ValueError>("vocab", str_cat("ids from 0 to ", max_token_id),
                       str_cat(shown(value), " for token ", shown(name)));
    const auto id = value.get<TokenId>();
    if (is_used[static_cast<std::size_t>(id)])
      fail<ValueError>("vocab", "each id once", str_cat(id, " again for token ", shown(name)));
    is_used[static_cast<std::size_t>(id)] = true;
    ids.emplace(name, id);
  }
  return ids;
}

using ByteTokens = std::array<std::optional<TokenId>, 256>;

// Returns the tokens of single bytes, if they exist. `name_of` returns the name of a byte's token.
template <class NameOf>
ByteTokens byte_tokens(const TokenToId& ids, const NameOf& name_of) {
  ByteTokens tokens;
  for (std::size_t byte = 0; byte < tokens.size(); ++byte)
    tokens[byte] = find_id(ids, name_of(static_cast<char>(byte)));
  return tokens;
}

// Returns the tokens "<0x00>" to "<0xFF>", if they exist.
ByteTokens hexadecimal_tokens(const TokenToId& ids) {
  return byte_tokens(ids, [](char byte) { return byte_pairs::hexadecimal_name(byte); });
}

// Appends the token of each byte of a text. Returns false if a byte has no token.
bool append_bytes(const ByteTokens& tokens, std::string_view text, TokenIds& ids) {
  const auto token_of = [&](char byte) { return tokens[static_cast<std::uint8_t>(byte)]; };
  if (!std::ranges::all_of(text, [&](char byte) { return token_of(byte).has_value(); }))
    return false;
  for (const char byte : text) ids.push_back(*token_of(byte));
  return true;
}

// Returns an entry that is a string, missing or null.
std::optional<std::string> optional_text(const json& description, std::string_view name) {
  if (entry(description, name).is_null()) return std::nullopt;
  return entry_or<std::string>(description, name, "");
}

// Byte-pair encoding (Sennrich et al., 2016).
class BytePairs : public TokenModel {
 public:
  BytePairs(const json& description, bool after_byte_letters)
      : prefix_(optional_text(description, "continuing_subword_prefix").value_or("")),
        suffix_(optional_text(description, "end_of_word_suffix").value_or("")),
        unknown_(optional_text(description, "unk_token")),
        fuses_unknown_(entry_or(description, "fuse_unk", false)) {
    if (entry_or(description, "dropout", 0.0) != 0.0)
      fail<ValueError>("dropout", "no dropout", "a dropout rate");
    ids_ = ids_in(entry(description, "vocab"));
    if (after_byte_letters && prefix_.empty() && suffix_.empty()) {
      letters_ = byte_tokens(ids_, [](char byte) { return byte_pairs::letters_of({&byte, 1}); });
      takes_bytes_ =
          std::ranges::all_of(*letters_, [](const auto& token) { return token.has_value(); });
    }
    if (entry_or(description, "ignore_merges", false))
      for (const auto& [name, id] : ids_)
        if (const auto word = takes_bytes_ ? byte_pairs::bytes_of(name) : name)
          words_.emplace(*word, id);
    if (unknown_) unknown_id_ = find_id(ids_, *unknown_);
    if (entry_or(description, "byte_fallback", false)) bytes_ = hexadecimal_tokens(ids_);
    add_merges(entry(description, "merges"));
  }

  void encode(std::string_view word, TextBudget& budget, TokenIds& ids) const override {
    budget.spend(word.size());
    if (const std::optional<TokenId> id = find_id(words_, word)) return ids.push_back(*id);
    TokenIds parts;
    parts.reserve(word.size());
    if (takes_bytes_)
      append_bytes(*letters_, word, parts);
    else
      append_characters(word, parts);
    merges_.apply(parts);
    ids.insert(ids.end(), parts.begin(), parts.end());
  }

 private:
  void append_characters(std::string_view word, TokenIds& parts) const {
    // Whether the token of a preceding unknown character is still to be added.
    bool is_unknown = false;
    const auto add_unknown = [&] {
      if (is_unknown) parts.push_back(*unknown_id_);
      is_unknown = false;
    };
    for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
      unicode::next_code_point(word, end);
      std::string part(word.substr(begin, end - begin));
      if (begin > 0) part.insert(0, prefix_);
      if (end == word.size()) part += suffix_;
      if (const std::optional<TokenId> id = find_id(ids_, part)) {
        add_unknown();
        parts.push_back(*id);
      } else if (!(bytes_ && append_bytes(*bytes_, part, parts)) && unknown_) {
        if (!unknown_id_)
          fail<ValueError>("unk_token", "a token of the vocabulary", shown(*unknown_));
        if (!fuses_unknown_) add_unknown();
        is_unknown = true;
      }
    }
    add_unknown();
  }

  void add_merges(const json& merges) {
    if (!merges.is_array()) fail<ValueError>("merges", "a list", merges.type_name());
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const json& merge = merges[i];
      std::string first, second;
      if (merge.is_string()) {
        const auto& text = merge.get_ref<const std::string&>();
        if (text.starts_with("#version")) continue;
        const std::size_t space = std::min(text.find(' '), text.size());
        first = text.substr(0, space);
        second = text.substr(std::min(space + 1, text.size()));
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        first = merge[0].get<std::string>();
        second = merge[1].get<std::string>();
      }
      const auto a = find_id(ids_, first), b = find_id(ids_, second);
      const auto result = second.starts_with(prefix_)
                              ? find_id(ids_, first + second.substr(prefix_.size()))
                              : std::nullopt;
      const auto what = [&] { return str_cat("pair ", i + 1, " of merges"); };
      if (!a || !b || !result)
        fail<ValueError>(what(),
                         "two tokens of the vocabulary that merge into a token of the vocabulary",
                         shown(merge));
      if (!merges_.add({*a, *b}, *result))
        fail<ValueError>(what(), "each pair of tokens once", shown(merge));
    }
  }

  std::string prefix_, suffix_;  // for characters that continue a word and that end a word
  std::optional<std::string> unknown_;
  std::optional<TokenId> unknown_id_;
  bool fuses_unknown_;  // whether consecutive unknown characters become one token
  std::optional<ByteTokens> letters_, bytes_;
  TokenToId words_;  // words that are tokens regardless of merges
  byte_pairs::Merges merges_;
};

// Splits a word into its most probable sequence of tokens (Kudo, 2018).
class Unigram : public TokenModel {
 public:
  explicit Unigram(const json& description) {
    const json& vocabulary = entry(description, "vocab");
    if (!vocabulary.is_array())
      fail<ValueError>("vocab", "a list of tokens", vocabulary.type_name());
    for (const json& token : vocabulary) {
      if (!token.is_array() || token.size() != 2 || !token[0].is_string() || !token[1].is_number())
        fail<ValueError>("vocab", "pairs of a token and its score", shown(token));
      const auto& name = token[0].get_ref<const std::string&>();
      const auto id = static_cast<TokenId>(scores_.size());
      scores_.push_back(token[1].get<double>());
      ids_[name] = id;
      if (!name.empty()) tree_.add(name, id);
    }
    size_ = scores_.size();
    if (!entry(description, "unk_id").is_null()) {
      const auto id = entry_or<std::int64_t>(description, "unk_id", 0);
      if (id < 0 || id >= std::ssize(scores_))
        fail<ValueError>("unk_id", str_cat("0 ≤ id < ", scores_.size()), id);
      unknown_ = static_cast<TokenId>(id);
    }
    if (entry_or(description, "byte_fallback", false)) bytes_ = hexadecimal_tokens(ids_);
    constexpr double penalty = 10.0;  // as in SentencePiece
    if (!scores_.empty()) unknown_score_ = std::ranges::min(scores_) - penalty;
  }

  // Uses Viterbi's algorithm. Among sequences with equal scores, chooses the first.
  void encode(std::string_view word, TextBudget& budget, TokenIds& ids) const override {
    struct Best {
      double score = 0.0;
      std::size_t begin = 0;
      std::optional<TokenId> id;
    };
    std::vector<Best> best(word.size() + 1);
    for (std::size_t begin = 0, next = 0; begin < word.size(); begin = next) {
      unicode::next_code_point(word, next);
      const auto improve = [&](std::size_t end, double score, TokenId id) {
        score += best[begin].score;
        if (!best[end].id || score > best[end].score) best[end] = {score, begin, id};
      };
      bool has_character = false;
      tree_.for_each(word.substr(begin), budget, [&](std::size_t size, TokenId id) {
        improve(begin + size, scores_[static_cast<std::size_t>(id)], id);
        has_character = has_character || begin + size == next;
      });
      if (!has_character) improve(next, unknown_score_, unknown());
    }
    std::vector<std::size_t> ends;  // ends of the tokens, from last to first
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) ends.push_back(end);
    // Consecutive unknown parts are joined.
    std::optional<std::size_t> unknown_begin;
    const auto add_unknown = [&](std::size_t end) {
      if (unknown_begin) append(word.substr(*unknown_begin, end - *unknown_begin), ids);
      unknown_begin.reset();
    };
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const Best& token = best[*end];
      if (token.id == unknown_) {
        if (!unknown_begin) unknown_begin = token.begin;
        continue;
      }
      add_unknown(token.begin);
      ids.push_back(*token.id);
    }
    add_unknown(word.size());
  }

 private:
  TokenId unknown() const {
    if (!unknown_)
      fail<ValueError>("unk_id", "an id, because the text contains unknown characters", "none");
    return *unknown_;
  }
  // Appends the tokens of a part that consists of unknown characters.
  void append(std::string_view part, TokenIds& ids) const {
    if (const std::optional<TokenId> id = find_id(ids_, part)) return ids.push_back(*id);
    if (!bytes_ || !append_bytes(*bytes_, part, ids)) ids.push_back(unknown());
  }

  TokenTree tree_;
  std::vector<double> scores_;
  double unknown_score_ = 0.0;
  std::optional<TokenId> unknown_;
  std::optional<ByteTokens> bytes_;
};

// Splits a word into the longest token that it starts with, then the longest token that continues
// it, and so on (Schuster and Nakajima, 2012; Devlin et al., 2019).
class WordPieces : public TokenModel {
 public:
  explicit WordPieces(const json& description)
      : longest_word_(entry_or<std::int64_t>(description, "max_input_chars_per_word", 100)) {
    if (longest_word_ < 0)
      fail<ValueError>("max_input_chars_per_word", "at least 0", longest_word_);
    ids_ = ids_in(entry(description, "vocab"));
    for (const auto& [name, id] : ids_)
      if (!name.empty()) tree_.add(name, id);
    continuation_ =
        tree_.find(entry_or<std::string>(description, "continuing_subword_prefix", "##"));
    const auto unknown = entry_or<std::string>(description, "unk_token", "[UNK]");
    const std::optional<TokenId> id = find_id(ids_, unknown);
    if (!id) fail<ValueError>("unk_token", "a token of the vocabulary", shown(unknown));
    unknown_ = *id;
  }

  void encode(std::string_view word, TextBudget& budget, TokenIds& ids) const override {
    const std::size_t first = ids.size();
    bool is_known = static_cast<std::int64_t>(count_characters(word)) <= longest_word_;
    std::optional<TokenTree::Node> node = TokenTree::root;
    for (std::size_t begin = 0; is_known && begin < word.size(); node = continuation_) {
      const auto [size, id] =
          node ? tree_.longest(word.substr(begin), budget, *node) : TokenTree::Longest();
      if (id) ids.push_back(*id);
      is_known = id.has_value();
      begin += size;
    }
    if (is_known) return;
    ids.resize(first);
    ids.push_back(unknown_);
  }

 private:
  std::int64_t longest_word_;
  TokenTree tree_;
  std::optional<TokenTree::Node> continuation_;
  TokenId unknown_ = 0;
};

// Treats each word as one token.
class WholeWords : public TokenModel {
 public:
  explicit WholeWords(const json& description)
      : unknown_(required_entry<std::string>(description, "unk_token")) {
    ids_ = ids_in(entry(description, "vocab"));
    unknown_id_ = find_id(ids_, unknown_);
  }

  void encode(std::string_view word, TextBudget& budget, TokenIds& ids) const override {
    budget.spend(word.size());
    const std::optional<TokenId> id = find_id(ids_, word);
    if (!id && !unknown_id_)
      fail<ValueError>("unk_token", "a token of the vocabulary", shown(unknown_));
    ids.push_back(id ? *id : *unknown_id_);
  }

 private:
  std::string unknown_;
  std::optional<TokenId> unknown_id_;
};

using ModelType = StepType<std::unique_ptr<TokenModel>>;

std::vector<ModelType> model_types(bool after_byte_letters) {
  return {{"BPE",
           {"vocab", "merges", "?dropout", "?unk_token", "?continuing_subword_prefix",
            "?end_of_word_suffix", "?fuse_unk", "?byte_fallback", "?ignore_merges"},
           [=](const json& d) { return std::make_unique<BytePairs>(d, after_byte_letters); }},
          {"Unigram",
           {"vocab", "?unk_id", "?byte_fallback"},
           [](const json& d) { return std::make_unique<Unigram>(d); }},
          {"WordPiece",
           {"vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"},
           [](const json& d) { return std::make_unique<WordPieces>(d); }},
          {"WordLevel", {"vocab", "unk_token"}, [](const json& d) {
             return std::make_unique<WholeWords>(d);
           }}};
}

}  // namespace

std::unique_ptr<TokenModel> make_token_model(const json& description, bool after_byte_letters) {
  const std::vector<ModelType> types = model_types(after_byte_letters);
  if (!description.is_object() || description.contains("type"))
    return make_step("model", types, description);
  // Older files do not contain the type.
  json typed = description;
  typed["type"] = description.contains("merges")                     ? "BPE"
                  : description.contains("max_input_chars_per_word") ? "WordPiece"
                  : entry(description, "vocab").is_array()           ? "Unigram"
                  : description.contains("unk_token")                ? "WordLevel"
                                                                     : "";
  return make_step("model", types, typed);
}

}  // namespace weft
