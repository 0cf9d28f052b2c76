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
                       "a bias of finite numbers or -infinity", term);
}

Index MaskView::rank_of(const char* operation, Index batch, const Shape& shape) const {
  if (shape == Shape{0}) return 0;
  const Shape shared{queries_, keys_}, per_sequence{batch, queries_, keys_},
      per_head{batch, heads_, queries_, keys_};
  if (shape != shared && shape != per_sequence && shape != per_head)
    fail<ShapeError>(concatenate_text(operation, ": mask"),
                     concatenate_text("shape ", shared, ", ", per_sequence, " or ", per_head),
                     shape);
  return shape.rank();
}

bool MaskView::visible_to_any(Index batch, Index key) const {
  const float score = 0.0F;
  float masked = 0.0F;
  // The last query first: under a causal mask, it attends to the most keys.
  for (Index query = queries_ - 1; query >= 0; --query) {
    if (key >= limit(batch, query)) continue;
    for (Index head = 0; head < heads_; ++head)
      if (std::isfinite(*apply(batch, head, query, key, 1, &score, &masked))) return true;
  }
  return false;
}

}  // namespace weft
