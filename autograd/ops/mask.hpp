// ValidLens and Mask: the keys that each query may attend to, and a bias added to their scores.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

struct Mask;

// The number of leading keys that may be attended to: one length for each sequence of the batch, or
// one for each query. Keys at and after the length are masked.
//   Var y = attention(q, k, v, ValidLens{3, 2});  // two sequences, of 3 and 2 keys
class WEFT_API ValidLens {
 public:
  // Creates lengths without a limit: no key is masked.
  ValidLens() = default;
  // Creates lengths with one value per sequence: [batch].
  ValidLens(std::initializer_list<std::int32_t> lengths);
  explicit ValidLens(const std::vector<std::int32_t>& lengths);
  // Creates lengths with one value per sequence, [batch], or per query, [batch, num_queries].
  // Throws ShapeError for any other rank.
  explicit ValidLens(const Tensor<std::int32_t>& lengths);

  bool given() const { return given_; }                             // whether there is a limit
  const Tensor<std::int32_t>& lengths() const { return lengths_; }  // [batch] or [batch, queries]
  // Returns a mask that contains only these lengths.
  operator Mask() const;
  // Throws ShapeError unless the lengths are [batch] or [batch, queries], and ValueError unless
  // 0 ≤ length ≤ keys for each of them. The message starts with `operation`.
  void check(const char* operation, Index batch, Index queries, Index keys) const;
  // Returns the length for one query; `keys` if there is no limit.
  Index length(Index batch, Index query, Index keys) const {
    if (!given_) return keys;
    return lengths_.data()[lengths_.rank() == 1 ? batch : batch * lengths_.shape()[1] + query];
  }

 private:
  Tensor<std::int32_t> lengths_;
  bool given_ = false;
};

// Determines the keys that each query may attend to: every key that no field masks. A query whose
// keys are all masked gets a result of zeros and a gradient of 0.
//   Var y = attention(q, k, v, Mask{.valid_lens = {3, 2}, .causal = true});
struct Mask {
  ValidLens valid_lens = {};  // the number of leading keys, see ValidLens
  // Query i attends to keys 0 to i + keys - queries. If there are as many queries as keys, these
  // are the keys up to its own position.
  bool causal = false;
  // Query i attends only to keys after position i + keys - queries - window. With `causal`, these
  // are its own position and the window - 1 positions before it (Hugging Face's sliding_window).
  // Must be ≥ 1.
  std::optional<Index> window = {};
  // True for keys that may be attended to, false for padding: [batch, keys], the opposite of
  // torch's key_padding_mask. If empty, every key is allowed.
  Tensor<bool> keys = {};
  // True where attention is allowed: [batch, queries, keys] or, for different heads, [batch, heads,
  // queries, keys]; batch and heads may be 1. If empty, every key is allowed.
  Tensor<bool> allowed = {};
  // Added to the scores before the softmax: finite numbers, and -infinity to mask a key (torch's
  // float attn_mask). Has a shape of `allowed`; empty for no bias. It is a constant, and float even
  // on a tape of doubles.
  Tensor<float> bias = {};
  // The position of each element in its document, [batch, queries], if a row contains several
  // documents that must not attend to each other (see PackedBatches). Attention ignores it; models
  // with added position embeddings use it. If empty, positions are 0, 1, … from the start of the
  // row.
  Tokens positions = {};
};

inline ValidLens::operator Mask() const { return {.valid_lens = *this}; }

}  // namespace weft
