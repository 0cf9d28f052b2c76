// MaskView: a Mask checked against the sizes of the scores, for use row by row.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "weft/autograd/ops/mask.hpp"

namespace weft {

class MaskView {
 public:
  // Throws ShapeError or ValueError if the mask does not match the sizes; the message starts with
  // `operation`.
  MaskView(const char* operation, const Mask& mask, Index batch, Index heads, Index queries,
           Index keys);

  // Returns the limit of a query: keys at and after it are masked.
  Index limit(Index batch, Index query) const {
    Index limit = mask_.valid_lens.length(batch, query, keys_);
    if (mask_.causal) limit = std::clamp<Index>(query + 1 + keys_ - queries_, 0, limit);
    return limit;
  }
  // Returns the masked scores of `count` keys starting at `begin`, all below the limit: scores with
  // the bias added, and -infinity for masked keys, whatever their scores (even NaN). Returns
  // `scores` itself if there is nothing to do, and otherwise `masked`, which may be `scores`.
  template <class T>
  const T* apply(Index batch, Index head, Index query, Index begin, Index count, const T* scores,
                 T* masked) const {
    constexpr T minus_infinity = -std::numeric_limits<T>::infinity();
    if (allowed_rank_ > 0) {
      const bool* allowed =
          mask_.allowed.data() + offset(allowed_rank_, batch, head, query) + begin;
      for (Index j = 0; j < count; ++j) masked[j] = allowed[j] ? scores[j] : minus_infinity;
      scores = masked;
    }
    if (bias_rank_ > 0) {
      const float* bias = mask_.bias.data() + offset(bias_rank_, batch, head, query) + begin;
      for (Index j = 0; j < count; ++j) {
        const T term = static_cast<T>(bias[j]);
        masked[j] = term == minus_infinity ? minus_infinity : scores[j] + term;
      }
      scores = masked;
    }
    return scores;
  }
  // Returns true if all queries of a sequence attend to the same keys, all those below limit(batch,
  // 0), and there is no bias.
  bool is_same_for_all_queries() const {
    return !mask_.causal && allowed_rank_ == 0 && bias_rank_ == 0 &&
           !(mask_.valid_lens.given() && mask_.valid_lens.lengths().rank() == 2);
  }
  // Whether masks differ between the heads of a sequence, and between sequences.
  bool differs_between_heads() const { return std::max(allowed_rank_, bias_rank_) == 4; }
  bool differs_between_sequences() const {
    return mask_.valid_lens.given() || std::max(allowed_rank_, bias_rank_) > 2;
  }
  // Returns the largest limit of a sequence's queries. All keys at and after it are masked.
  Index largest_limit(Index batch) const;
  // Returns true if some query attends to each key below the largest limit.
  bool shows_all_below_limit() const { return allowed_rank_ == 0 && bias_rank_ == 0; }
  // Returns the keys that some query of the sequence may attend to, in some head: [batch, keys].
  Tensor<bool> visible_keys() const;
  // Returns false if every query attends to some key, whatever the elements of the mask are.
  bool may_hide_queries() const {
    return allowed_rank_ > 0 || bias_rank_ > 0 || mask_.valid_lens.given() || keys_ == 0 ||
           (mask_.causal && keys_ < queries_);
  }
  // Returns the queries that may attend to some key, in some head: [batch, queries].
  Tensor<bool> visible_queries() const;

 private:
  // Returns the rank of a part of the mask, or 0 if the part is not set. Throws ShapeError.
  Index rank_of(const char* operation, Index batch, const Shape& shape) const;
  // Returns the offset of a query's row in a part of the mask with this rank.
  Index offset(Index rank, Index batch, Index head, Index query) const {
    const Index matrix = rank == 2 ? 0 : rank == 3 ? batch : batch * heads_ + head;
    return (matrix * queries_ + query) * keys_;
  }

  // Sets visible[key] of one sequence for the keys that some query may attend to in some head.
  void mark_visible(Index batch, bool* visible) const;
  // The number of heads with different masks; 1 if all heads have the same mask.
  Index own_heads() const { return differs_between_heads() ? heads_ : 1; }
  // Returns whether a query may attend to a key below its limit.
  bool shows(Index batch, Index head, Index query, Index key) const {
    return (allowed_rank_ == 0 ||
            mask_.allowed.data()[offset(allowed_rank_, batch, head, query) + key]) &&
           (bias_rank_ == 0 || mask_.bias.data()[offset(bias_rank_, batch, head, query) + key] >
                                   -std::numeric_limits<float>::infinity());
  }

  Mask mask_;
  Index batch_, heads_, queries_, keys_;
  Index allowed_rank_ = 0, bias_rank_ = 0;
};

}  // namespace weft
