#include "weft/train/data/padding.hpp"

#include "weft/autograd/error.hpp"
#include "train/data/internal/pad_rows.hpp"

namespace weft {

PaddedTokens pad_sequences(std::span<const Sequence> sequences, TokenId pad) {
  if (sequences.empty()) fail<ValueError>("padding", "at least one sequence", "none");
  return pad_rows(std::ssize(sequences), pad,
                  [&](std::size_t i, Sequence& row) { row = sequences[i]; });
}

void check_padded(const std::string& what, const PaddedTokens& padded, Index examples) {
  const Shape& shape = padded.tokens.shape();
  if (shape.rank() != 2 || shape[0] != examples)
    fail<ShapeError>(what, concatenate_text("tokens [", examples, ", time]"),
                     concatenate_text("shape ", shape));
  if (!padded.valid_lens.given()) return;
  const Tensor<std::int32_t>& lengths = padded.valid_lens.lengths();
  const std::string lengths_name = what + ".valid_lens";
  if (lengths.shape() != Shape{examples})
    fail<ShapeError>(lengths_name, concatenate_text("shape ", Shape{examples}), lengths.shape());
  for (const std::int32_t length : lengths)
    if (length < 0 || length > shape[1])
      fail<ValueError>(lengths_name, concatenate_text("lengths of 0 … ", shape[1]), length);
}

PaddedTokens part_of(const PaddedTokens& padded, Index first, Index last) {
  const Index width = padded.tokens.shape()[1];
  return pad_rows(last - first, Vocabulary::pad, [&](std::size_t i, Sequence& row) {
    const Index index = first + static_cast<Index>(i);
    const TokenId* from = padded.tokens.data() + index * width;
    row.assign(from, from + padded.valid_lens.length(index, 0, width));
  });
}

}  // namespace weft
