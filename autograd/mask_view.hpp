// MaskView: a Mask checked against the sizes at hand and ready to be asked row by row.
// Included by definitions only.
#pragma once

#include <algorithm>

#include "autograd/mask.hpp"

namespace weft {

class MaskView {
 public:
  // Throws ShapeError or ValueError when the mask does not fit; `operation` opens the message.
  MaskView(const char* operation, const Mask& mask, Index batch, Index heads, Index queries,
           Index keys);

  // Keys from here on are hidden from the query.
  Index limit(Index batch, Index query) const {
    Index limit = mask_.valid_lens.length(batch, query, keys_);
    if (mask_.causal) limit = std::clamp<Index>(query + 1 + keys_ - queries_, 0, limit);
    return limit;
  }
  // For the keys below the limit, true where one is seen; null when all are.
  const bool* seen(Index batch, Index head, Index query) const {
    if (seen_rank_ == 0) return nullptr;
    const Index matrix = seen_rank_ == 2 ? 0 : seen_rank_ == 3 ? batch : batch * heads_ + head;
    return mask_.seen.data() + (matrix * queries_ + query) * keys_;
  }
  // True when all queries of one sequence see the same keys, those below limit(batch, 0).
  bool same_for_all_queries() const {
    return !mask_.causal && seen_rank_ == 0 &&
           !(mask_.valid_lens.given() && mask_.valid_lens.lengths().rank() == 2);
  }
  // True when some query of the sequence sees the key, with some head.
  bool seen_by_any(Index batch, Index key) const;

 private:
  Mask mask_;
  Index heads_, queries_, keys_;
  Index seen_rank_ = 0;
};

}  // namespace weft
