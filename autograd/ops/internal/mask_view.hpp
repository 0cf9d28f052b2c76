// MaskView: a Mask checked against the sizes of the scores, for use row by row.
// Included by definitions only.
#pragma once

#include <algorithm>
#include <limits>

#include "weft/autograd/ops/mask.hpp"

namespace weft {

class MaskView {
 public:
  // Throws ShapeError or ValueError when the mask does not match the sizes; the message starts with
  // `operation`.
  MaskView(const char* operation, const Mask& mask, Index batch, Index heads, Index queries,
           Index keys);

  // Keys at and past the limit are masked for the query.
  Index limit(Index batch, Index query) const {
    Index limit = mask_.valid_lens.length(batch, query, keys_);
    if (mask_.causal) limit = std::clamp<Index>(query + 1 + keys_ - queries_, 0, limit);
    return limit;
  }
  // The masked scores of `count` keys from `begin` on, all below the limit: with the bias added,
  // and -infinity for masked keys, whatever their scores (even NaN). Returns `scores` itself when
  // there is nothing to do, otherwise `masked`, which may be `scores`.
  template <class T>
  const T* apply(Index batch, Index head, Index query, Index begin, Index count, const T* scores,
                 T* masked) const {
    constexpr T minus_infinity = -std::numeric_limits<T>::infinity();
    const auto apply_allowed = [&](const bool* allowed) {
      for (Index j = 0; j < count; ++j) masked[j] = allowed[j] ? scores[j] : minus_infinity;
      scores = masked;
    };
    if (!mask_.keys.empty()) apply_allowed(mask_.keys.data() + batch * keys_ + begin);
    if (allowed_.is_given)
      apply_allowed(mask_.allowed.data() + offset(allowed_, batch, head, query) + begin);
    if (bias_.is_given) {
      const float* bias = mask_.bias.data() + offset(bias_, batch, head, query) + begin;
      for (Index j = 0; j < count; ++j) {
        const T term = static_cast<T>(bias[j]);
        masked[j] = term == minus_infinity ? minus_infinity : scores[j] + term;
      }
      scores = masked;
    }
    if (const Index hidden = std::clamp<Index>(first(query) - begin, 0, count); hidden > 0) {
      if (scores != masked) std::copy_n(scores, count, masked);
      std::fill_n(masked, hidden, minus_infinity);
      scores = masked;
    }
    return scores;
  }
  // Returns true if all queries of a sequence attend to all keys below the same limit, and there is
  // no bias.
  bool is_same_for_all_queries() const {
    return !mask_.causal && shows_all_below_limit() &&
           !(mask_.valid_lens.given() && mask_.valid_lens.lengths().rank() == 2);
  }
  // Whether masks differ between the heads of a sequence, and between sequences.
  bool differs_between_heads() const {
    return std::max(allowed_.head_stride, bias_.head_stride) > 0;
  }
  bool differs_between_sequences() const {
    return mask_.valid_lens.given() || !mask_.keys.empty() ||
           std::max(allowed_.batch_stride, bias_.batch_stride) > 0;
  }
  // Returns the largest limit of a sequence's queries. All keys at and after it are masked.
  Index largest_limit(Index batch) const;
  // Returns true if some query attends to each key below the largest limit.
  bool shows_all_below_limit() const {
    return !mask_.window && mask_.keys.empty() && !allowed_.is_given && !bias_.is_given;
  }
  // Returns the keys that some query of the sequence may attend to, in some head: [batch, keys].
  Tensor<bool> visible_keys() const;
  // Returns false if every query attends to some key, whatever the elements of the mask are.
  bool may_hide_queries() const {
    return !shows_all_below_limit() || mask_.valid_lens.given() || keys_ == 0 ||
           (mask_.causal && keys_ < queries_);
  }
  // Returns the queries that may attend to some key, in some head: [batch, queries].
  Tensor<bool> visible_queries() const;

 private:
  // A part of the mask with rows for queries: the steps from one sequence, and from one head, to
  // the next, 0 if they are the same for all.
  struct Part {
    bool is_given = false;
    Index batch_stride = 0, head_stride = 0;
  };

  // Throws ShapeError unless a part of that shape matches the scores, or is not given.
  Part part_of(const char* operation, const char* name, const Shape& shape) const;
  // The offset of a query's row in a part.
  Index offset(const Part& part, Index batch, Index head, Index query) const {
    return batch * part.batch_stride + head * part.head_stride + query * keys_;
  }
  // The first key in the window of a query.
  Index first(Index query) const {
    return mask_.window ? std::max<Index>(query + 1 + keys_ - queries_ - *mask_.window, 0) : 0;
  }

  // Sets visible[key] of one sequence for the keys that some query may attend to in some head.
  void mark_visible(Index batch, bool* visible) const;
  // The number of heads with masks of their own; 1 when all heads have the same.
  Index own_heads() const { return differs_between_heads() ? heads_ : 1; }
  // Whether a query may attend to a key below its limit.
  bool shows(Index batch, Index head, Index query, Index key) const {
    return key >= first(query) && (mask_.keys.empty() || mask_.keys.data()[batch * keys_ + key]) &&
           (!allowed_.is_given ||
            mask_.allowed.data()[offset(allowed_, batch, head, query) + key]) &&
           (!bias_.is_given || mask_.bias.data()[offset(bias_, batch, head, query) + key] >
                                   -std::numeric_limits<float>::infinity());
  }

  Mask mask_;
  Index batch_, heads_, queries_, keys_;
  Part allowed_, bias_;
};

}  // namespace weft
