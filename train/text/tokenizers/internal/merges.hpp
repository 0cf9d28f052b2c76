// Merges: the pairs of tokens that are merged, and their order.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "weft/train/data/vocabulary.hpp"

namespace weft::byte_pairs {

struct TokenPair {
  TokenId first, second;

  friend auto operator<=>(const TokenPair&, const TokenPair&) = default;
};

struct TokenPairHash {
  std::size_t operator()(const TokenPair& pair) const {
    // Fibonacci hashing: std::hash of an integer is the integer itself.
    const auto bits = (std::uint64_t{static_cast<std::uint32_t>(pair.first)} << 32) |
                      static_cast<std::uint32_t>(pair.second);
    return static_cast<std::size_t>((bits ^ (bits >> 29)) * 0x9E3779B97F4A7C15u >> 16);
  }
};

class Merges {
 public:
  struct Merge {
    std::size_t rank;  // 0 for the first merge
    TokenId result;
  };

  // Adds a merge with the next rank. Returns false if the pair was already added.
  bool add(TokenPair pair, TokenId result);
  // Merges pairs of neighbours, the lowest rank first, among equal ranks the leftmost, until no
  // pair can be merged. Takes O(n log n) time.
  void apply(TokenIds& word) const;

 private:
  std::unordered_map<TokenPair, Merge, TokenPairHash> merges_;
};

}  // namespace weft::byte_pairs
