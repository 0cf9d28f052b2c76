#include "train/text/tokenizers/internal/merges.hpp"

#include <queue>
#include <tuple>
#include <vector>

namespace weft::byte_pairs {
namespace {

// A token of a word, in a linked list of the remaining tokens.
struct Part {
  TokenId token;
  std::size_t previous, next;
  bool is_left = true;
};

// A merge of the part at `position` with the next part. It was possible when it was added.
struct Candidate {
  std::size_t rank, position;
  TokenPair pair;
  TokenId result;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::tie(a.rank, a.position) > std::tie(b.rank, b.position);
  }
};

}  // namespace

bool Merges::add(TokenPair pair, TokenId result) {
  return merges_.emplace(pair, Merge{merges_.size(), result}).second;
}

void Merges::apply(TokenIds& word) const {
  const std::size_t size = word.size();
  std::vector<Part> parts;
  parts.reserve(size);
  // `size` means that there is no previous or next part.
  for (std::size_t i = 0; i < size; ++i) parts.push_back({word[i], i > 0 ? i - 1 : size, i + 1});

  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](std::size_t position) {
    if (position >= size || parts[position].next >= size) return;
    const TokenPair pair{parts[position].token, parts[parts[position].next].token};
    if (const auto found = merges_.find(pair); found != merges_.end())
      candidates.push({found->second.rank, position, pair, found->second.result});
  };
  for (std::size_t i = 0; i < size; ++i) consider(i);

  while (!candidates.empty()) {
    const Candidate merge = candidates.top();
    candidates.pop();
    Part& part = parts[merge.position];
    if (!part.is_left || part.next >= size) continue;
    if (const TokenPair pair{part.token, parts[part.next].token}; pair != merge.pair) {
      // The pair at this position has changed, but may merge into the same token.
      const auto found = merges_.find(pair);
      if (found == merges_.end() || found->second.result != merge.result) continue;
    }
    parts[part.next].is_left = false;
    part.token = merge.result;
    part.next = parts[part.next].next;
    if (part.next < size) parts[part.next].previous = merge.position;
    consider(part.previous);
    consider(merge.position);
  }
  word.clear();
  for (const Part& part : parts)
    if (part.is_left) word.push_back(part.token);
}

}  // namespace weft::byte_pairs
