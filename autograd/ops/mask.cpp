#include "weft/autograd/ops/mask.hpp"

#include <cmath>

#include "weft/autograd/error.hpp"
#include "autograd/ops/internal/mask_view.hpp"

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
