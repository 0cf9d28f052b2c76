// for_each_repeating_token: finds the tokens that would repeat an n-gram.
#pragma once

#include <algorithm>
#include <span>

#include "weft/autograd/tensor.hpp"

namespace weft {

// Calls `ban(token)` for each token that, after `tokens`, would complete a sequence of `size`
// tokens that `tokens` already contain (transformers' NoRepeatNGramLogitsProcessor). A `size` of 0
// bans nothing.
template <class Ban>
void for_each_repeating_token(std::span<const TokenId> tokens, Index size, const Ban& ban) {
  const auto n = static_cast<std::size_t>(size);
  if (n == 0 || tokens.size() < n) return;
  const auto last = tokens.last(n - 1);
  for (std::size_t i = 0; i + n <= tokens.size(); ++i)
    if (std::ranges::equal(tokens.subspan(i, n - 1), last)) ban(tokens[i + n - 1]);
}

}  // namespace weft
