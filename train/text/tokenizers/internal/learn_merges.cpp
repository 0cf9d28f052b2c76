#include "train/text/tokenizers/internal/learn_merges.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <queue>
#include <unordered_map>

#include "train/text/tokenizers/internal/byte_letters.hpp"
#include "train/text/tokenizers/internal/merges.hpp"
#include "train/text/tokenizers/internal/text_steps.hpp"

namespace weft::byte_pairs {
namespace {

// A distinct word and its number of occurrences in the text.
struct Word {
  TokenIds tokens;
  std::int64_t count;
};

// The occurrences of a pair.
struct Occurrences {
  std::int64_t count = 0;
  // The indices of the words that contain the pair or have contained it; some may be repeated.
  std::vector<std::size_t> words = {};
};

struct Candidate {
  std::int64_t count;  // the count when the candidate was added; it may be lower now
  TokenPair pair;

  // The top of a priority queue is the most frequent pair; among equally frequent pairs, the pair
  // with lower ids.
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.count != b.count ? a.count < b.count : a.pair > b.pair;
  }
};

std::vector<Word> words_of(const std::vector<std::string_view>& parts) {
  std::array<TokenId, 256> ids;
  for (std::size_t id = 0; id < ids.size(); ++id)
    ids[bytes_in_order()[id]] = static_cast<TokenId>(id);
  std::unordered_map<std::string_view, std::size_t> indices;
  std::vector<Word> words;
  const PreTokenizer words_of_gpt2 = make_pre_tokenizer(
      {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}, true);
  for (const std::string_view part : parts) {
    TextPass pass(part.size());
    words_of_gpt2(part, true, pass, [&](std::string_view text, bool) {
      const auto [found, is_new] = indices.emplace(text, words.size());
      if (is_new) {
        Word& word = words.emplace_back();
        for (const char byte : text) word.tokens.push_back(ids[static_cast<std::uint8_t>(byte)]);
      }
      ++words[found->second].count;
    });
  }
  return words;
}

class Learner {
 public:
  explicit Learner(const std::vector<std::string_view>& parts) : words_(words_of(parts)) {
    for (const std::uint8_t byte : bytes_in_order())
      add(letters_of(std::string(1, static_cast<char>(byte))));
    for (std::size_t index = 0; index < words_.size(); ++index) count(index, +1);
    for (const auto& [pair, occurrences] : pairs_) queue_.push({occurrences.count, pair});
  }

  NamedTokens learn(std::size_t size) {
    while (learned_.names.size() < size && !queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(top.pair);
      if (found == pairs_.end() || found->second.count < 2) continue;
      if (found->second.count < top.count)
        queue_.push({found->second.count, top.pair});
      else
        merge(top.pair);
    }
    return std::move(learned_);
  }

 private:
  // Returns the id of a token. Adds the token unless another merge had the same result.
  TokenId add(const std::string& name) {
    const auto id = static_cast<TokenId>(learned_.names.size());
    const auto [found, is_new] = ids_.emplace(name, id);
    if (is_new) learned_.names.push_back(name);
    return found->second;
  }

  // Adds `sign` times the pairs of a word to the counts.
  void count(std::size_t index, int sign) {
    const Word& word = words_[index];
    for (std::size_t i = 0; i + 1 < word.tokens.size(); ++i) {
      Occurrences& pair = pairs_[{word.tokens[i], word.tokens[i + 1]}];
      pair.count += sign * word.count;
      if (sign > 0 && (pair.words.empty() || pair.words.back() != index))
        pair.words.push_back(index);
    }
  }

  void merge(TokenPair pair) {
    const auto name = [&](TokenId id) { return learned_.names[static_cast<std::size_t>(id)]; };
    learned_.merges.emplace_back(name(pair.first), name(pair.second));
    const TokenId result = add(name(pair.first) + name(pair.second));
    std::vector<TokenPair> new_pairs;
    const std::vector<std::size_t> indices = std::move(pairs_[pair].words);
    for (const std::size_t index : indices) {
      TokenIds &tokens = words_[index].tokens, merged;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        const bool is_pair =
            i + 1 < tokens.size() && tokens[i] == pair.first && tokens[i + 1] == pair.second;
        merged.push_back(is_pair ? result : tokens[i]);
        if (is_pair) ++i;
      }
      if (merged.size() == tokens.size()) continue;
      count(index, -1);
      tokens = std::move(merged);
      count(index, +1);
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
        if (tokens[i] == result || tokens[i + 1] == result)
          new_pairs.push_back({tokens[i], tokens[i + 1]});
    }
    pairs_.erase(pair);
    std::sort(new_pairs.begin(), new_pairs.end());
    const auto end = std::unique(new_pairs.begin(), new_pairs.end());
    for (auto added = new_pairs.begin(); added != end; ++added)
      queue_.push({pairs_[*added].count, *added});
  }

  std::vector<Word> words_;
  NamedTokens learned_;
  std::unordered_map<std::string, TokenId> ids_;
  std::unordered_map<TokenPair, Occurrences, TokenPairHash> pairs_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

NamedTokens learn_merges(const std::vector<std::string_view>& parts, std::size_t size) {
  return Learner(parts).learn(size);
}

}  // namespace weft::byte_pairs
