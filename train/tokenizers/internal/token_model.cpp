#include "train/tokenizers/internal/token_model.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/tokenizers/internal/byte_letters.hpp"
#include "train/tokenizers/internal/json_entries.hpp"
#include "train/tokenizers/internal/merges.hpp"
#include "train/tokenizers/internal/unicode.hpp"

namespace weft {
namespace {

using nlohmann::json;

TokenId checked_id(const json& id, std::string_view name) {
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() > std::uint64_t{max_token_id})
    fail<ValueError>("vocabulary", concatenate_text("ids 0 … ", max_token_id),
                     concatenate_text(id.dump(), " for token '", name.substr(0, 80), '\''));
  return id.get<TokenId>();
}

// Which tokens stand for the 256 bytes, by their names "<0x00>" … "<0xFF>"; none unless all do.
std::optional<std::array<TokenId, 256>> byte_tokens(const TokenIds& ids) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::array<TokenId, 256> tokens;
  for (std::size_t byte = 0; byte < tokens.size(); ++byte) {
    const std::string name = std::string("<0x") + digits[byte / 16] + digits[byte % 16] + '>';
    const std::optional<TokenId> id = find_id(ids, name);
    if (!id) return std::nullopt;
    tokens[byte] = *id;
  }
  return tokens;
}

// What a model has for characters that are no tokens: tokens of their bytes, or one for all.
struct Unknown {
  std::optional<std::array<TokenId, 256>> bytes;
  std::optional<TokenId> id;
  bool is_fused = false;  // one token for several unknown characters

  // `was_unknown` says whether the character before was. Returns whether this one is.
  bool append(std::string_view character, bool was_unknown, Sequence& ids) const {
    if (bytes) {
      for (const char byte : character) ids.push_back((*bytes)[static_cast<std::uint8_t>(byte)]);
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
    const json& vocabulary = entry(description, "vocab");
    if (!vocabulary.is_object())
      fail<ValueError>("vocab", "an object of tokens", vocabulary.type_name());
    for (const auto& [name, id] : vocabulary.items()) ids_.emplace(name, checked_id(id, name));
    takes_whole_words_ = entry_or(description, "ignore_merges", false);
    if (bytes_as_letters) {
      byte_ids_.emplace();
      for (int byte = 0; byte < 256; ++byte)
        (*byte_ids_)[static_cast<std::size_t>(byte)] =
            find_id(ids_, byte_pairs::letters_of(std::string(1, static_cast<char>(byte))))
                .value_or(none);
      if (takes_whole_words_)
        for (const auto& [name, id] : ids_)
          if (std::optional<std::string> bytes = byte_pairs::bytes_of(name))
            words_.emplace(std::move(*bytes), id);
    } else if (takes_whole_words_) {
      words_ = ids_;
    }
    if (const auto name = entry_or<std::string>(description, "unk_token", ""); !name.empty())
      unknown_.id = find_id(ids_, name);
    unknown_.is_fused = entry_or(description, "fuse_unk", false);
    if (entry_or(description, "byte_fallback", false)) unknown_.bytes = byte_tokens(ids_);
    add_merges(entry(description, "merges"));
  }

  void encode(std::string_view word, Sequence& ids) const override {
    if (takes_whole_words_)
      if (const std::optional<TokenId> id = find_id(words_, word)) return ids.push_back(*id);
    Sequence parts;
    parts.reserve(word.size());
    bool was_unknown = false;
    if (byte_ids_) {
      for (const char byte : word) {
        const TokenId id = (*byte_ids_)[static_cast<std::uint8_t>(byte)];
        was_unknown = id == none && unknown_.append({&byte, 1}, was_unknown, parts);
        if (id != none) parts.push_back(id);
      }
    } else {
      for (std::size_t at = 0; at < word.size();) {
        const std::size_t begin = at;
        unicode::next_code_point(word, at);
        const std::string_view character = word.substr(begin, at - begin);
        if (const std::optional<TokenId> id = find_id(ids_, character)) {
          parts.push_back(*id);
          was_unknown = false;
        } else {
          was_unknown = unknown_.append(character, was_unknown, parts);
        }
      }
    }
    merges_.apply(parts);
    ids.insert(ids.end(), parts.begin(), parts.end());
  }

 private:
  static constexpr TokenId none = -1;

  void add_merges(const json& merges) {
    if (!merges.is_array()) fail<ValueError>("merges", "a list", merges.type_name());
    for (const json& merge : merges) {
      std::string first, second;
      if (merge.is_string()) {
        const auto text = merge.get<std::string>();
        const std::size_t space = text.find(' ');
        if (space != text.npos) first = text.substr(0, space), second = text.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        first = merge[0].get<std::string>();
        second = merge[1].get<std::string>();
      }
      const auto a = find_id(ids_, first), b = find_id(ids_, second),
                 result = find_id(ids_, first + second);
      if (!a || !b || !result)
        fail<ValueError>("merges", "two tokens of the vocabulary, which has the merged one",
                         merge.dump().substr(0, 80));
      if (!merges_.add({*a, *b}, *result))
        fail<ValueError>("merges", "each pair once", merge.dump().substr(0, 80));
    }
  }

  std::optional<std::array<TokenId, 256>> byte_ids_;
  TokenIds words_;
  bool takes_whole_words_;
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
    double lowest = std::numeric_limits<double>::infinity();
    for (const json& token : vocabulary) {
      if (!token.is_array() || token.size() != 2 || !token[0].is_string() || !token[1].is_number())
        fail<ValueError>("vocab", "tokens and their scores", token.dump().substr(0, 80));
      const auto name = token[0].get<std::string>();
      const auto id = static_cast<TokenId>(scores_.size());
      scores_.push_back(token[1].get<double>());
      lowest = std::min(lowest, scores_.back());
      ids_.emplace(name, id);
      add_to_tree(name, id);
    }
    if (!entry(description, "unk_id").is_null()) {
      const auto id = entry_or<std::int64_t>(description, "unk_id", 0);
      if (id < 0 || id >= std::ssize(scores_))
        fail<ValueError>("unk_id", concatenate_text("0 ≤ id < ", scores_.size()), id);
      unknown_.id = static_cast<TokenId>(id);
    }
    unknown_.is_fused = true;
    if (entry_or(description, "byte_fallback", false)) unknown_.bytes = byte_tokens(ids_);
    constexpr double penalty = 10.0;  // SentencePiece's
    unknown_score_ = lowest - penalty;
  }

  // Viterbi's algorithm over the ends of tokens.
  void encode(std::string_view word, Sequence& ids) const override {
    struct Best {
      double score = -std::numeric_limits<double>::infinity();
      std::size_t begin = 0;
      TokenId id = none;
    };
    std::vector<Best> best(word.size() + 1);
    best[0].score = 0.0;
    for (std::size_t begin = 0, next = 0; begin < word.size(); begin = next) {
      next = begin;
      unicode::next_code_point(word, next);
      const auto improve = [&, from = best[begin].score](std::size_t end, double score,
                                                         TokenId id) {
        if (from + score > best[end].score) best[end] = {from + score, begin, id};
      };
      bool has_character = false;
      std::size_t node = 0;
      for (std::size_t end = begin; end < word.size();) {
        const auto found = children_.find({node, word[end]});
        if (found == children_.end()) break;
        node = found->second;
        ++end;
        if (const TokenId id = token_at_[node]; id != none) {
          improve(end, scores_[static_cast<std::size_t>(id)], id);
          has_character = has_character || end == next;
        }
      }
      if (!has_character) improve(next, unknown_score_, none);
    }
    std::vector<const Best*> path;
    std::vector<std::size_t> ends;
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
      path.push_back(&best[end]);
      ends.push_back(end);
    }
    bool was_unknown = false;
    std::string_view unknown;
    for (std::size_t i = path.size(); i-- > 0;) {
      if (path[i]->id != none) {
        ids.push_back(path[i]->id);
        was_unknown = false;
        continue;
      }
      unknown = word.substr(path[i]->begin, ends[i] - path[i]->begin);
      was_unknown = unknown_.append(unknown, was_unknown, ids);
    }
  }

 private:
  static constexpr TokenId none = -1;
  struct Edge {
    std::size_t node;
    char byte;
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct EdgeHash {
    std::size_t operator()(const Edge& edge) const {
      return (edge.node * 256 + static_cast<std::uint8_t>(edge.byte)) * 0x9E3779B97F4A7C15u >> 16;
    }
  };

  void add_to_tree(const std::string& name, TokenId id) {
    std::size_t node = 0;
    for (const char byte : name) {
      const auto [edge, is_new] = children_.emplace(Edge{node, byte}, token_at_.size());
      if (is_new) token_at_.push_back(none);
      node = edge->second;
    }
    if (node > 0) token_at_[node] = id;
  }

  std::vector<double> scores_;
  double unknown_score_ = 0.0;
  Unknown unknown_;
  std::unordered_map<Edge, std::size_t, EdgeHash> children_;
  std::vector<TokenId> token_at_{none};  // the token that ends at a node
};

}  // namespace

std::unique_ptr<TokenModel> make_token_model(const json& description, bool bytes_as_letters) {
  std::string type = entry_or<std::string>(description, "type", "");
  // Older files do not say it.
  if (type.empty() && entry(description, "merges").is_array()) type = "BPE";
  if (type == "BPE") return std::make_unique<BytePairs>(description, bytes_as_letters);
  if (type == "Unigram") return std::make_unique<Unigram>(description);
  fail<ValueError>("model", "BPE or Unigram", concatenate_text('\'', type, '\''));
}

}  // namespace weft
