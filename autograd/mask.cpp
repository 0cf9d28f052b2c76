#include "autograd/mask.hpp"

#include "autograd/error.hpp"
#include "autograd/mask_view.hpp"

namespace weft {

ValidLens::ValidLens(std::initializer_list<std::int32_t> lengths)
    : ValidLens(Tensor<std::int32_t>({static_cast<Index>(lengths.size())}, lengths)) {}

ValidLens::ValidLens(const std::vector<std::int32_t>& lengths)
    : ValidLens(Tensor<std::int32_t>({static_cast<Index>(lengths.size())},
                                     std::span<const std::int32_t>(lengths))) {}

ValidLens::ValidLens(Tensor<std::int32_t> lengths) : lengths_(std::move(lengths)), given_(true) {
  if (lengths_.rank() != 1 && lengths_.rank() != 2)
    fail<ShapeError>("valid_lens", "shape [batch] or [batch, num_queries]", lengths_.shape());
}

void ValidLens::check(const char* operation, Index batch, Index queries, Index keys) const {
  if (!given_) return;
  if (lengths_.shape() != Shape{batch} && lengths_.shape() != Shape{batch, queries})
    fail<ShapeError>(concatenate_text(operation, ": valid_lens"),
                     concatenate_text("shape ", Shape{batch}, " or ", Shape{batch, queries}),
                     lengths_.shape());
  for (std::int32_t length : lengths_)
    if (length < 0 || length > keys)
      fail<ValueError>(concatenate_text(operation, ": valid_lens"),
                       concatenate_text("lengths of 0 to ", keys), length);
}

MaskView::MaskView(const char* operation, const Mask& mask, Index batch, Index heads, Index queries,
                   Index keys)
    : mask_(mask), heads_(heads), queries_(queries), keys_(keys) {
  mask.valid_lens.check(operation, batch, queries, keys);
  const Shape& shape = mask.seen.shape();
  if (shape == Shape{0}) return;
  if (shape != Shape{queries, keys} && shape != Shape{batch, queries, keys} &&
      shape != Shape{batch, heads, queries, keys})
    fail<ShapeError>(
        concatenate_text(operation, ": mask"),
        concatenate_text("shape ", Shape{queries, keys}, ", ", Shape{batch, queries, keys}, " or ",
                         Shape{batch, heads, queries, keys}),
        shape);
  seen_rank_ = shape.rank();
}

bool MaskView::seen_by_any(Index batch, Index key) const {
  // The last query first: where a mask is causal, it sees the most.
  for (Index query = queries_ - 1; query >= 0; --query) {
    if (key >= limit(batch, query)) continue;
    if (seen_rank_ == 0) return true;
    for (Index head = 0; head < heads_; ++head)
      if (seen(batch, head, query)[key]) return true;
  }
  return false;
}

}  // namespace weft
