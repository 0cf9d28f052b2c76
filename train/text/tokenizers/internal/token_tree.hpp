// TokenTree: finds the tokens that a text starts with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "weft/train/data/vocabulary.hpp"
#include "train/text/tokenizers/internal/text_budget.hpp"

namespace weft {

class TokenTree {
 public:
  using Node = std::size_t;
  static constexpr Node root = 0;

  // Adds a token. Returns the id that the token had before, if any.
  std::optional<TokenId> add(std::string_view token, TokenId id) {
    Node node = root;
    for (const char byte : token) {
      const auto [child, is_new] = children_.emplace(key(node, byte), ids_.size());
      if (is_new) ids_.emplace_back();
      node = child->second;
    }
    return std::exchange(ids_[node], id);
  }

  // Calls `use` with the size and the id of each token that the text starts with, the shortest
  // first. If a node is given, only tokens that continue the text of the node count. Charges for
  // each byte that it reads, because tokens may be long.
  template <class Use>
  void for_each(std::string_view text, TextBudget& budget, const Use& use, Node node = root) const {
    constexpr std::uint64_t per_byte = 4;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      budget.spend(per_byte);
      const auto child = children_.find(key(node, text[size - 1]));
      if (child == children_.end()) return;
      node = child->second;
      if (ids_[node]) use(size, *ids_[node]);
    }
  }

  // Returns the longest token that the text starts with.
  struct Longest {
    std::size_t size = 0;
    std::optional<TokenId> id;
  };
  Longest longest(std::string_view text, TextBudget& budget, Node node = root) const {
    Longest found;
    for_each(
        text, budget,
        [&](std::size_t size, TokenId id) {
          found = {size, id};
        },
        node);
    return found;
  }

  // Returns the node of a string, or nothing if no token starts with the string.
  std::optional<Node> find(std::string_view text) const {
    Node node = root;
    for (const char byte : text) {
      const auto child = children_.find(key(node, byte));
      if (child == children_.end()) return std::nullopt;
      node = child->second;
    }
    return node;
  }

 private:
  struct Hash {
    std::size_t operator()(std::uint64_t key) const { return key * 0x9E3779B97F4A7C15u >> 16; }
  };
  static std::uint64_t key(Node node, char byte) {
    return node * 256 + static_cast<std::uint8_t>(byte);
  }

  std::unordered_map<std::uint64_t, Node, Hash> children_;
  std::vector<std::optional<TokenId>> ids_{std::nullopt};  // id of the token that ends at each node
};

}  // namespace weft
