// ValidLens and Mask: which keys each query may see, and which of them it favours.
#pragma once

#include <initializer_list>
#include <vector>

#include "weft/autograd/tensor.hpp"

namespace weft {

struct Mask;

// How many keys, counted from the first, are seen: one length for each sequence of the batch, or
// one for each of its queries. Keys at and past the length are not seen.
class ValidLens {
 public:
  // No limit: every key is seen.
  ValidLens() = default;
  // [batch]
  ValidLens(std::initializer_list<std::int32_t> lengths);
  explicit ValidLens(const std::vector<std::int32_t>& lengths);
  // [batch] or [batch, num_queries]. Throws ShapeError for any other rank.
  explicit ValidLens(Tensor<std::int32_t> lengths);

  bool given() const { return given_; }
  const Tensor<std::int32_t>& lengths() const { return lengths_; }
  // A mask by these lengths alone.
  operator Mask() const;
  // Throws ShapeError unless the shape is [batch] or [batch, queries], ValueError unless every
  // length is 0 … keys. `operation` opens the message.
  void check(const char* operation, Index batch, Index queries, Index keys) const;
  // The length of one query; `keys` when there is no limit.
  Index length(Index batch, Index query, Index keys) const {
    if (!given_) return keys;
    return lengths_.data()[lengths_.rank() == 1 ? batch : batch * lengths_.shape()[1] + query];
  }

 private:
  Tensor<std::int32_t> lengths_;
  bool given_ = false;
};

// Which keys a query sees: those that every part that is given admits, and what else is added to
// their scores. A query that sees no key gets zeros, and zero gradient.
struct Mask {
  ValidLens valid_lens = {};
  // Query i sees keys 0 … i + keys - queries: with as many queries as keys, those up to itself.
  bool causal = false;
  // True where a key is seen: [queries, keys], [batch, queries, keys] or, where there are heads,
  // [batch, heads, queries, keys]. No elements when not given.
  Tensor<bool> allowed = {};
  // Added to the scores before the softmax, in one of the same shapes: finite numbers, which favour
  // some keys over others, and -infinity, which hides a key (torch's attn_mask of floats). A
  // constant, also for a tape of doubles. No elements when not given.
  Tensor<float> bias = {};
};

inline ValidLens::operator Mask() const { return {.valid_lens = *this}; }

}  // namespace weft
