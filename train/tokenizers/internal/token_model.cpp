#include "train/tokenizers/internal/token_model.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/data/characters.hpp"
#include "train/tokenizers/internal/byte_letters.hpp"
#include "train/tokenizers/internal/json_entries.hpp"
#include "train/tokenizers/internal/merges.hpp"
#include "train/tokenizers/internal/token_tree.hpp"
#include "train/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

using nlohmann::json;

// The ids of an object of names, each id once.
TokenIds ids_in(const json& vocabulary) {
  if (!vocabulary.is_object())
    fail<ValueError>("vocab", "an object of tokens", vocabulary.type_name());
  TokenIds ids;
  std::vector<bool> is_used(std::size_t{max_token_id} + 1);
  for (const auto& [name, value] : vocabulary.items()) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::uint64_t{max_token_id})
      fail<ValueError>("vocab", concatenate_text("ids 0 … ", max_token_id),
                       concatenate_text(shown(value), " for token ", shown(name)));
    const auto id = value.get<TokenId>();
    if (is_used[static_cast<std::size_t>(id)])
      fail<ValueError>("vocab", "each id once",
                       concatenate_text(id, " again for token ", shown(name)));
    is_used[static_cast<std::size_t>(id)] = true;
    ids.emplace(name, id);
  }
  return ids;
}

using ByteTokens = std::array<std::optional<TokenId>, 256>;

// The tokens that stand for single bytes, whose names `name_of` gives.
template <class NameOf>
ByteTokens byte_tokens(const TokenIds& ids, const NameOf& name_of) {
  ByteTokens tokens;
  for (std::size_t byte = 0; byte < tokens.size(); ++byte)
    tokens[byte] = find_id(ids, name_of(static_cast<char>(byte)));
  return tokens;
}

// What a model has for characters that are no tokens: tokens of their bytes, "<0x00>" … "<0xFF>",
// or one for all.
struct Unknown {
  std::optional<ByteTokens> bytes;
  std::optional<TokenId> id;
  bool is_fused = false;  // one token for several unknown characters

  void add_bytes(const TokenIds& ids) {
    bytes = byte_tokens(ids, [](char byte) { return byte_pairs::hexadecimal_name(byte); });
    if (!std::ranges::all_of(*bytes, [](const auto& token) { return token.has_value(); }))
      bytes.reset();
  }

  // `was_unknown` says whether the character before was. Returns whether this one is.
  bool append(std::string_view character, bool was_unknown, Sequence& ids) const {
    if (bytes) {
      for (const char byte : character) ids.push_back(*(*bytes)[static_cast<std::uint8_t>(byte)]);
      return false;
    }
    if (id && !(is_fused && was_unknown)) ids.push_back(*id);
    return true;
  }
};

// Byte-pair encoding (Sennrich et al., 2016).
class BytePairs : public TokenModel {
 public:
  BytePairs(const json& description, bool bytes_as_letters) {
    for (const std::string_view part : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (!entry_or<std::string>(description, part, "").empty())
        fail<ValueError>(std::string(part), "none", "one");
    if (entry_or(description, "dropout", 0.0) != 0.0) fail<ValueError>("dropout", "none", "one");
    ids_ = ids_in(entry(description, "vocab"));
    if (bytes_as_letters)
      byte_ids_ = byte_tokens(ids_, [](char byte) { return byte_pairs::letters_of({&byte, 1}); });
    if (entry_or(description, "ignore_merges", false))
      for (const auto& [name, id] : ids_)
        words_.emplace(bytes_as_letters ? byte_pairs::bytes_of(name).value_or(name) : name, id);
    if (const auto name = entry_or<std::string>(description, "unk_token", ""); !name.empty())
      unknown_.id = find_id(ids_, name);
    unknown_.is_fused = entry_or(description, "fuse_unk", false);
    if (entry_or(description, "byte_fallback", false)) unknown_.add_bytes(ids_);
    add_merges(entry(description, "merges"));
  }

  void encode(std::string_view word, Sequence& ids) const override {
    if (const std::optional<TokenId> id = find_id(words_, word)) return ids.push_back(*id);
    Sequence parts;
    parts.reserve(word.size());
    bool was_unknown = false;
    for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
      if (byte_ids_)
        ++end;
      else
        unicode::next_code_point(word, end);
      const std::string_view character = word.substr(begin, end - begin);
      const std::optional<TokenId> id = byte_ids_
                                            ? (*byte_ids_)[static_cast<std::uint8_t>(word[begin])]
                                            : find_id(ids_, character);
      if (id) parts.push_back(*id);
      was_unknown = !id && unknown_.append(character, was_unknown, parts);
    }
    merges_.apply(parts);
    ids.insert(ids.end(), parts.begin(), parts.end());
  }

 private:
  void add_merges(const json& merges) {
    if (!merges.is_array()) fail<ValueError>("merges", "a list", merges.type_name());
    for (std::size_t i = 0; i < merges.size(); ++i) {
      const json& merge = merges[i];
      std::string first, second;
      if (merge.is_string()) {
        const auto& text = merge.get_ref<const std::string&>();
        const std::size_t space = std::min(text.find(' '), text.size());
        first = text.substr(0, space);
        second = text.substr(std::min(space + 1, text.size()));
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        first = merge[0].get<std::string>();
        second = merge[1].get<std::string>();
      }
      const auto a = find_id(ids_, first), b = find_id(ids_, second),
                 result = find_id(ids_, first + second);
      const auto what = [&] { return concatenate_text("pair ", i + 1, " of merges"); };
      if (!a || !b || !result)
        fail<ValueError>(what(), "two tokens of the vocabulary, which has the merged one",
                         shown(merge));
      if (!merges_.add({*a, *b}, *result))
        fail<ValueError>(what(), "a pair of tokens that was not there before", shown(merge));
    }
  }

  std::optional<ByteTokens> byte_ids_;
  TokenIds words_;  // that are tokens whatever the merges are
  Unknown unknown_;
  byte_pairs::Merges merges_;
};

// The most probable sequence of tokens that gives a word (Kudo, 2018).
class Unigram : public TokenModel {
 public:
  explicit Unigram(const json& description) {
    const json& vocabulary = entry(description, "vocab");
    if (!vocabulary.is_array())
      fail<ValueError>("vocab", "a list of tokens", vocabulary.type_name());
    for (const json& token : vocabulary) {
      if (!token.is_array() || token.size() != 2 || !token[0].is_string() || !token[1].is_number())
        fail<ValueError>("vocab", "tokens and their scores", shown(token));
      const auto& name = token[0].get_ref<const std::string&>();
      const auto id = static_cast<TokenId>(scores_.size());
      scores_.push_back(token[1].get<double>());
      ids_[name] = id;
      if (!name.empty()) tree_.add(name, id);
    }
    if (!entry(description, "unk_id").is_null()) {
      const auto id = entry_or<std::int64_t>(description, "unk_id", 0);
      if (id < 0 || id >= std::ssize(scores_))
        fail<ValueError>("unk_id", concatenate_text("0 ≤ id < ", scores_.size()), id);
      unknown_.id = static_cast<TokenId>(id);
    }
    unknown_.is_fused = true;
    if (entry_or(description, "byte_fallback", false)) unknown_.add_bytes(ids_);
    constexpr double penalty = 10.0;  // SentencePiece's
    if (!scores_.empty()) unknown_score_ = std::ranges::min(scores_) - penalty;
  }

  // Viterbi's algorithm over the ends of tokens.
  void encode(std::string_view word, Sequence& ids) const override {
    struct Best {
      double score = -std::numeric_limits<double>::infinity();
      std::size_t begin = 0;
      std::optional<TokenId> id;
    };
    std::vector<Best> best(word.size() + 1);
    best[0].score = 0.0;
    for (std::size_t begin = 0, next = 0; begin < word.size(); begin = next) {
      unicode::next_code_point(word, next);
      const auto improve = [&](std::size_t end, double score, std::optional<TokenId> id) {
        score += best[begin].score;
        if (score > best[end].score) best[end] = {score, begin, id};
      };
      bool has_character = false;
      tree_.for_each(word.substr(begin), [&](std::size_t size, TokenId id) {
        improve(begin + size, scores_[static_cast<std::size_t>(id)], id);
        has_character = has_character || begin + size == next;
      });
      if (!has_character) improve(next, unknown_score_, std::nullopt);
    }
    std::vector<std::size_t> ends;  // the last one first
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) ends.push_back(end);
    bool was_unknown = false;
    for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
      const auto& [score, begin, id] = best[*end];
      if (id) ids.push_back(*id);
      was_unknown = !id && unknown_.append(word.substr(begin, *end - begin), was_unknown, ids);
    }
  }

 private:
  TokenTree tree_;
  std::vector<double> scores_;
  double unknown_score_ = 0.0;
  Unknown unknown_;
};

// The longest token that a word begins with, then the longest that continues it, and so on
// (Schuster and Nakajima, 2012; Devlin et al., 2019).
class WordPieces : public TokenModel {
 public:
  explicit WordPieces(const json& description)
      : longest_word_(entry_or<std::int64_t>(description, "max_input_chars_per_word", 100)) {
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

  void encode(std::string_view word, Sequence& ids) const override {
    const std::size_t first = ids.size();
    bool is_known = static_cast<std::int64_t>(count_characters(word)) <= longest_word_;
    std::optional<TokenTree::Node> node = TokenTree::root;
    for (std::size_t begin = 0; is_known && begin < word.size(); node = continuation_) {
      const auto [size, id] =
          node ? tree_.longest(word.substr(begin), *node) : TokenTree::Longest();
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

}  // namespace

std::unique_ptr<TokenModel> make_token_model(const json& description, bool bytes_as_letters) {
  std::string type = entry_or<std::string>(description, "type", "");
  // Older files do not say it.
  if (type.empty() && entry(description, "merges").is_array()) type = "BPE";
  if (type == "BPE") return std::make_unique<BytePairs>(description, bytes_as_letters);
  if (type == "Unigram") return std::make_unique<Unigram>(description);
  if (type == "WordPiece") return std::make_unique<WordPieces>(description);
  fail<ValueError>("model", "BPE, Unigram or WordPiece", shown(type));
}

}  // namespace weft
