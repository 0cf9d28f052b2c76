// ValidLens and Mask: the keys that each query may attend to, and a bias for their scores.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

struct Mask;

// The number of leading keys that may be attended to: one length for each sequence of the batch, or
// one for each of its queries. Keys at and past the length are masked.
//   Var y = attention(q, k, v, ValidLens{3, 2});  // two sequences, of 3 and 2 keys
class WEFT_API ValidLens {
 public:
  // No limit: no key is masked.
  ValidLens() = default;
  // [batch]
  ValidLens(std::initializer_list<std::int32_t> lengths);
  explicit ValidLens(const std::vector<std::int32_t>& lengths);
  // [batch] or [batch, num_queries]. Throws ShapeError for any other rank.
  explicit ValidLens(const Tensor<std::int32_t>& lengths);

  bool given() const { return given_; }                             // false: no limit
  const Tensor<std::int32_t>& lengths() const { return lengths_; }  // [batch] or [batch, queries]
  // A mask with only these lengths.
  operator Mask() const;
  // Throws ShapeError unless the shape is [batch] or [batch, queries], ValueError unless every
  // length is 0 … keys. The message starts with `operation`.
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

// The keys that a query may attend to: those that no given part masks. A query with every key
// masked gets a result of zeros, and zero gradient.
//   Var y = attention(q, k, v, Mask{.valid_lens = {3, 2}, .causal = true});
struct Mask {
  ValidLens valid_lens = {};  // the first keys of each sequence, or of each query
  // Query i attends to keys 0 … i + keys - queries: with as many queries as keys, to those up to
  // its own position.
  bool causal = false;
  // Query i attends only to keys after position i + keys - queries - window, with `causal` to its
  // own and the window - 1 keys before it (sliding_window of Hugging Face's models). Must be ≥ 1.
  std::optional<Index> window = {};
  // True for the keys that may be attended to, false for padding: [batch, keys], the opposite of
  // torch's key_padding_mask. No limit if empty.
  Tensor<bool> keys = {};
  // True where a query may attend to a key: [batch, queries, keys] or, with heads, [batch, heads,
  // queries, keys], where batch and heads may be 1, for all. No limit if empty.
  Tensor<bool> allowed = {};
  // Added to the scores before the softmax: finite numbers, and -infinity to mask a key (torch's
  // float attn_mask), of the same shapes as `allowed`. A constant, without gradient. Nothing is
  // added if empty.
  Tensor<float> bias = {};
  // The position of each element in its text, where rows hold several texts that do not see each
  // other (see PackedBatches), [batch, queries]. Attention ignores it; models with added position
  // embeddings use it. If empty, positions are 0, 1, … from the start of the row.
  Tokens positions = {};
};

inline ValidLens::operator Mask() const { return {.valid_lens = *this}; }

}  // namespace weft
