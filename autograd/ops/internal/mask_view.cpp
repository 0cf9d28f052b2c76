#include "autograd/ops/internal/mask_view.hpp"

#include <cmath>

#include "weft/autograd/error.hpp"

namespace weft {

MaskView::MaskView(const char* operation, const Mask& mask, Index batch, Index heads, Index queries,
                   Index keys)
    : mask_(mask), heads_(heads), queries_(queries), keys_(keys) {
  mask.valid_lens.check(operation, batch, queries, keys);
  allowed_rank_ = rank_of(operation, batch, mask.allowed.shape());
  bias_rank_ = rank_of(operation, batch, mask.bias.shape());
  for (const float term : mask.bias)
    if (!(term < std::numeric_limits<float>::infinity()))
      fail<ValueError>(concatenate_text(operation, ": mask"),
                       "finite numbers or -infinity to add to scores", term);
}

Index MaskView::rank_of(const char* operation, Index batch, const Shape& shape) const {
  if (shape == Shape{0}) return 0;
  const Shape whole{queries_, keys_}, by_sequence{batch, queries_, keys_},
      by_head{batch, heads_, queries_, keys_};
  if (shape != whole && shape != by_sequence && shape != by_head)
    fail<ShapeError>(concatenate_text(operation, ": mask"),
                     concatenate_text("shape ", whole, ", ", by_sequence, " or ", by_head), shape);
  return shape.rank();
}

bool MaskView::visible_to_any(Index batch, Index key) const {
  const float score = 0.0F;
  float room = 0.0F;
  // The last query first: where a mask is causal, it sees the most.
  for (Index query = queries_ - 1; query >= 0; --query) {
    if (key >= limit(batch, query)) continue;
    for (Index head = 0; head < heads_; ++head)
      if (std::isfinite(*apply(batch, head, query, key, 1, &score, &room))) return true;
  }
  return false;
}

}  // namespace weft
