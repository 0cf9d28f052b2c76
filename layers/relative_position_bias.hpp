// RelativePositionBias: what attention adds to its scores by the distance of key and query.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct RelativePositionBiasOptions {
  Index num_heads = 1;  // of the attention layers, > 0
  // Without parameters: -m |distance|, where the slopes m of the heads are 2^(-8/n), 2^(-16/n), …
  // for n heads if n is a power of two (ALiBi; Press et al., 2022).
  bool alibi = false;
  // Otherwise the distances have this many buckets, each with a learned number for each head
  // (Raffel et al., 2020, section 2.1): half of them for single distances, the others for ranges
  // that grow logarithmically up to max_distance, the last one also for those beyond.
  Index num_buckets = 32;
  Index max_distance = 128;  // in positions
  // Whether keys after the query have half of the buckets; otherwise they have that of distance 0.
  bool bidirectional = true;

  friend bool operator==(const RelativePositionBiasOptions&,
                         const RelativePositionBiasOptions&) = default;
};

// Learned buckets (Raffel et al., 2020, section 2.1), one table for all blocks of a stack (see
// TransformerOptions::position_bias), or ALiBi (Press et al., 2022): for query q and key k of head
// h
//   b_h(k - q) = weight(bucket(k - q), h)
//
//   RelativePositionBias relative({.num_heads = 4}, random);
//   Var y = scaled_dot_product_attention(q, k, v, {.num_heads = 4}, relative(tape, 4, 5));
template <class T = float>
struct WEFT_API RelativePositionBias : Module<T> {
  // The buckets are initialized from a normal distribution of standard deviation 0.02. Throws
  // ValueError unless num_heads > 0, and without `alibi` num_buckets ≥ 2 (4 if bidirectional) and
  // max_distance is greater than the number of single distances.
  RelativePositionBias(const RelativePositionBiasOptions& options, Random& random);

  // The bias of all distances of num_queries positions, of which the last is that of the last key,
  // from num_keys keys, [num_heads, num_queries + num_keys - 1]: element num_queries - 1 + k - q is
  // that of query q and key k. Throws ValueError for numbers below 0.
  Var<T> operator()(Tape<T>& tape, Index num_queries, Index num_keys) const;
  // The bucket of the distance of a key from a query, position of the key minus that of the query.
  Index bucket(Index distance) const;

  void members(Members<T>& members) const override;

  std::optional<Parameter<T>> weight;  // [num_buckets, num_heads]; none with `alibi`

 private:
  RelativePositionBiasOptions options_;
};

extern template struct RelativePositionBias<float>;
extern template struct RelativePositionBias<double>;

}  // namespace weft
