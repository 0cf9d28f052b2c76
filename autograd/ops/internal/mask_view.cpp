#include "autograd/ops/internal/mask_view.hpp"

#include <algorithm>
#include <atomic>

#include "weft/autograd/error.hpp"
#include "weft/autograd/parallel.hpp"
#include "autograd/internal/saturating_product.hpp"

namespace weft {

MaskView::MaskView(const char* operation, const Mask& mask, Index batch, Index heads, Index queries,
                   Index keys)
    : mask_(mask), batch_(batch), heads_(heads), queries_(queries), keys_(keys) {
  mask.valid_lens.check(operation, batch, queries, keys);
  if (mask.window && *mask.window < 1)
    fail<ValueError>(str_cat(operation, ": mask.window"), "at least 1", *mask.window);
  // Then it hides nothing.
  if (mask.window && *mask.window >= keys) mask_.window.reset();
  if (mask.keys.shape() != Shape{0} && mask.keys.shape() != Shape{batch, keys})
    fail<ShapeError>(str_cat(operation, ": mask.keys"), str_cat("shape ", Shape{batch, keys}),
                     mask.keys.shape());
  allowed_ = part_of(operation, "allowed", mask.allowed.shape());
  bias_ = part_of(operation, "bias", mask.bias.shape());
  const auto is_allowed = [](float term) { return term < std::numeric_limits<float>::infinity(); };
  std::atomic<bool> all_allowed{true};
  const float* terms = mask.bias.data();
  parallel_for(mask.bias.size(), grain_of(1), [&](Index begin, Index end) {
    if (!std::all_of(terms + begin, terms + end, is_allowed)) all_allowed = false;
  });
  if (!all_allowed)
    fail<ValueError>(str_cat(operation, ": mask"), "a bias of finite numbers or -infinity",
                     *std::find_if_not(mask.bias.begin(), mask.bias.end(), is_allowed));
}

MaskView::Part MaskView::part_of(const char* operation, const char* name,
                                 const Shape& shape) const {
  if (shape == Shape{0}) return {};
  const Index rank = shape.rank();
  const bool fits = (rank == 3 || rank == 4) && (shape[0] == batch_ || shape[0] == 1) &&
                    (rank == 3 || shape[1] == heads_ || shape[1] == 1) && shape[-2] == queries_ &&
                    shape[-1] == keys_;
  if (!fits)
    fail<ShapeError>(
        str_cat(operation, ": mask.", name),
        str_cat("shape ", Shape{batch_, queries_, keys_}, " or ",
                Shape{batch_, heads_, queries_, keys_},
                ", where the batch and the heads may be 1 (a mask of keys is mask.keys)"),
        shape);
  const Index matrix = queries_ * keys_, heads = rank == 4 ? shape[1] : 1;
  return {.is_given = true,
          .batch_stride = shape[0] == 1 ? 0 : heads * matrix,
          .head_stride = heads == 1 ? 0 : matrix};
}

Index MaskView::largest_limit(Index batch) const {
  // Without a length for each query, the last query has the largest limit.
  const bool by_query = mask_.valid_lens.given() && mask_.valid_lens.lengths().rank() == 2;
  Index largest = 0;
  for (Index query = by_query ? 0 : std::max<Index>(queries_ - 1, 0); query < queries_; ++query)
    largest = std::max(largest, limit(batch, query));
  return largest;
}

Tensor<bool> MaskView::visible_keys() const {
  Tensor<bool> visible({batch_, keys_});
  bool* rows = visible.data();
  parallel_for(batch_, grain_of(saturating_product({heads_, queries_, keys_})),
               [&](Index begin, Index end) {
                 for (Index b = begin; b < end; ++b) mark_visible(b, rows + b * keys_);
               });
  return visible;
}

Tensor<bool> MaskView::visible_queries() const {
  Tensor<bool> visible({batch_, queries_});
  bool* rows = visible.data();
  parallel_for(batch_ * queries_, grain_of(saturating_product({heads_, keys_})),
               [&](Index begin, Index end) {
                 for (Index row = begin; row < end; ++row) {
                   const Index b = row / queries_, query = row % queries_;
                   const Index seen = limit(b, query);
                   for (Index head = 0; head < own_heads() && !rows[row]; ++head)
                     for (Index key = first(query); key < seen && !rows[row]; ++key)
                       rows[row] = shows(b, head, query, key);
                 }
               });
  return visible;
}

void MaskView::mark_visible(Index batch, bool* visible) const {
  const Index end = largest_limit(batch);
  // The keys before `hidden` are visible already.
  Index hidden = 0;
  for (Index head = 0; head < own_heads(); ++head)
    // The last query first: under a causal mask, it attends to the most keys.
    for (Index query = queries_ - 1; query >= 0 && hidden < end; --query) {
      const Index seen = limit(batch, query);
      for (Index key = std::max(hidden, first(query)); key < seen; ++key)
        if (!visible[key]) visible[key] = shows(batch, head, query, key);
      while (hidden < end && visible[hidden]) ++hidden;
    }
}

}  // namespace weft
