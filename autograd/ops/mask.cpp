#include "weft/autograd/ops/mask.hpp"

#include "weft/autograd/error.hpp"

namespace weft {

ValidLens::ValidLens(std::initializer_list<std::int32_t> lengths)
    : ValidLens(Tensor<std::int32_t>({static_cast<Index>(lengths.size())}, lengths)) {}

ValidLens::ValidLens(const std::vector<std::int32_t>& lengths)
    : ValidLens(Tensor<std::int32_t>({static_cast<Index>(lengths.size())},
                                     std::span<const std::int32_t>(lengths))) {}

// Copies the lengths, so that nobody else can change them: backward relies on what forward has
// checked.
ValidLens::ValidLens(const Tensor<std::int32_t>& lengths)
    : lengths_(lengths.clone()), given_(true) {
  if (lengths_.rank() != 1 && lengths_.rank() != 2)
    fail<ShapeError>("valid_lens", "shape [batch] or [batch, num_queries]", lengths_.shape());
}

void ValidLens::check(const char* operation, Index batch, Index queries, Index keys) const {
  if (!given_) return;
  if (lengths_.shape() != Shape{batch} && lengths_.shape() != Shape{batch, queries})
    fail<ShapeError>(str_cat(operation, ": valid_lens"),
                     str_cat("shape ", Shape{batch}, " or ", Shape{batch, queries}),
                     lengths_.shape());
  for (std::int32_t length : lengths_)
    if (length < 0 || length > keys)
      fail<ValueError>(str_cat(operation, ": valid_lens"), str_cat("lengths from 0 to ", keys),
                       length);
}

}  // namespace weft
