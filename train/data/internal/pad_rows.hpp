// pad_rows: rows of different lengths as padded tokens.
#pragma once

#include <algorithm>

#include "weft/train/data/padding.hpp"

namespace weft {

// Pads `count` rows to the same length; fill(i, row) appends row i to an empty sequence.
template <class Fill>
PaddedTokens pad_rows(Index count, TokenId pad, const Fill& fill) {
  Sequence row;
  const auto make_row = [&](Index i) -> const Sequence& {
    row.clear();
    fill(static_cast<std::size_t>(i), row);
    return row;
  };
  Index longest = 0;
  for (Index i = 0; i < count; ++i) longest = std::max<Index>(longest, std::ssize(make_row(i)));
  auto tokens = Tokens::full({count, longest}, pad);
  Tensor<std::int32_t> lengths({count});
  for (Index i = 0; i < count; ++i) {
    make_row(i);
    std::copy(row.begin(), row.end(), tokens.data() + i * longest);
    lengths(i) = static_cast<std::int32_t>(row.size());
  }
  return {tokens, ValidLens(lengths)};
}

}  // namespace weft
