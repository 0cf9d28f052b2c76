// MaskView: a Mask checked against the sizes at hand and ready to be asked row by row.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "weft/autograd/ops/mask.hpp"

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
  // The scores of `count` keys from `begin` on, all below the limit, as the softmax is to see them:
  // with what is added, and -infinity for hidden keys, whatever their scores hold (NaN too).
  // `scores` itself where there is nothing to do, otherwise `room`, which may be `scores`.
  template <class T>
  const T* apply(Index batch, Index head, Index query, Index begin, Index count, const T* scores,
                 T* room) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    if (allowed_rank_ > 0) {
      const bool* seen = mask_.allowed.data() + offset(allowed_rank_, batch, head, query) + begin;
      for (Index j = 0; j < count; ++j) room[j] = seen[j] ? scores[j] : hidden;
      scores = room;
    }
    if (bias_rank_ > 0) {
      const float* added = mask_.bias.data() + offset(bias_rank_, batch, head, query) + begin;
      for (Index j = 0; j < count; ++j) {
        const T term = static_cast<T>(added[j]);
        room[j] = term == hidden ? hidden : scores[j] + term;
      }
      scores = room;
    }
    return scores;
  }
  // True when all queries of one sequence see the same keys, those below limit(batch, 0), as they
  // are.
  bool same_for_all_queries() const {
    return !mask_.causal && allowed_rank_ == 0 && bias_rank_ == 0 &&
           !(mask_.valid_lens.given() && mask_.valid_lens.lengths().rank() == 2);
  }
  // True when some query of the sequence sees the key, with some head.
  bool visible_to_any(Index batch, Index key) const;

 private:
  // The rank of a part of the mask, 0 when it is not given. Throws ShapeError.
  Index rank_of(const char* operation, Index batch, const Shape& shape) const;
  // Where the row of a query begins in a part of that rank.
  Index offset(Index rank, Index batch, Index head, Index query) const {
    const Index matrix = rank == 2 ? 0 : rank == 3 ? batch : batch * heads_ + head;
    return (matrix * queries_ + query) * keys_;
  }

  Mask mask_;
  Index heads_, queries_, keys_;
  Index allowed_rank_ = 0, bias_rank_ = 0;
};

}  // namespace weft
