#include "weft/train/data/padding.hpp"

#include <algorithm>
#include <vector>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

PaddedTokens pad_rows(std::span<const TokenIds> rows, TokenId pad) {
  Index longest = 0;
  for (const TokenIds& row : rows) longest = std::max<Index>(longest, std::ssize(row));
  auto tokens = Tokens::full({std::ssize(rows), longest}, pad);
  Tensor<std::int32_t> lengths({std::ssize(rows)});
  TokenId* to = tokens.data();
  std::int32_t* length = lengths.data();
  for (const TokenIds& row : rows) {
    std::ranges::copy(row, to);
    to += longest;
    *length++ = static_cast<std::int32_t>(row.size());
  }
  return {tokens, ValidLens(lengths)};
}

}  // namespace

PaddedTokens pad_sequences(std::span<const TokenIds> sequences, TokenId pad) {
  if (sequences.empty()) fail<ValueError>("padding", "at least one sequence", "none");
  return pad_rows(sequences, pad);
}

void check_padded(const std::string& what, const PaddedTokens& padded, Index examples) {
  const Shape& shape = padded.tokens.shape();
  if (shape.rank() != 2 || shape[0] != examples)
    fail<ShapeError>(what, str_cat("tokens [", examples, ", time]"), str_cat("shape ", shape));
  if (!padded.valid_lens.given()) return;
  const Tensor<std::int32_t>& lengths = padded.valid_lens.lengths();
  const std::string lengths_name = what + ".valid_lens";
  if (lengths.shape() != Shape{examples})
    fail<ShapeError>(lengths_name, str_cat("shape ", Shape{examples}), lengths.shape());
  for (const std::int32_t length : lengths)
    if (length < 0 || length > shape[1])
      fail<ValueError>(lengths_name, str_cat("lengths from 0 to ", shape[1]), length);
}

PaddedTokens part_of(const PaddedTokens& padded, Index first, Index last) {
  const Index width = padded.tokens.shape()[1];
  std::vector<TokenIds> rows;
  for (Index index = first; index < last; ++index) {
    const TokenId* from = padded.tokens.data() + index * width;
    rows.emplace_back(from, from + padded.valid_lens.length(index, 0, width));
  }
  return pad_rows(rows, Vocabulary::pad);
}

}  // namespace weft
