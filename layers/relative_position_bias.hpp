// RelativePositionBias: a bias of attention scores that depends on the distance of key and query.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct RelativePositionBiasOptions {
  Index num_heads = 1;  // the number of attention heads, > 0
  // Whether to use ALiBi (Press et al., 2022): the bias is -m |distance|, without parameters. If
  // the number of heads n is a power of two, their slopes m are 2^(-8/n), 2^(-16/n), …
  bool alibi = false;
  // The number of buckets of distances, each with a learned bias for each head (Raffel et al.,
  // 2020, section 2.1). Half of the buckets are for one distance each. The other half are for
  // ranges that grow logarithmically up to max_distance; the last bucket also contains all greater
  // distances. This option and the following ones are ignored with `alibi`.
  Index num_buckets = 32;
  Index max_distance = 128;  // the distance at which the logarithmic ranges end
  // Whether half of the buckets are for keys after the query. Otherwise, such keys use the bucket
  // of distance 0.
  bool bidirectional = true;

  // Calls visit(name, value) for each field of `self`, which may be const.
  template <class Self, class Visit>
  static void for_each_field(Self& self, const Visit& visit) {
    visit("num_heads", self.num_heads);
    visit("alibi", self.alibi);
    visit("num_buckets", self.num_buckets);
    visit("max_distance", self.max_distance);
    visit("bidirectional", self.bidirectional);
  }

  friend bool operator==(const RelativePositionBiasOptions&,
                         const RelativePositionBiasOptions&) = default;
};

// A bias that is added to attention scores and depends on the distance of key and query. It is
// either learned for buckets of distances (Raffel et al., 2020, section 2.1) or fixed (ALiBi; Press
// et al., 2022). All blocks of a stack share one bias (see TransformerOptions::position_bias). With
// learned buckets, the bias of query q and key k in head h is:
//   b_h(k - q) = weight(bucket(k - q), h)
//
//   RelativePositionBias relative({.num_heads = 4}, random);
//   Var y = scaled_dot_product_attention(q, k, v, {.num_heads = 4}, relative(tape, 4, 5));
template <class T = float>
struct WEFT_API RelativePositionBias : Module<T> {
  // Initializes the biases from a normal distribution with mean 0 and standard deviation 0.02.
  // Throws ValueError unless num_heads > 0. Without `alibi`, also throws ValueError unless
  // num_buckets ≥ 2 (4 if bidirectional) and max_distance is greater than the number of buckets
  // that each direction has for single distances.
  RelativePositionBias(const RelativePositionBiasOptions& options, Random& random);

  // Returns the biases of all distances, [num_heads, num_queries + num_keys - 1]: element
  // num_queries - 1 + k - q is for query q and key k. The last query has the same position as the
  // last key. Throws ValueError if num_queries or num_keys is negative.
  Var<T> operator()(Tape<T>& tape, Index num_queries, Index num_keys) const;
  // Returns the bucket of a distance, which is the position of the key minus the position of the
  // query.
  Index bucket(Index distance) const;

  void members(Members<T>& members) const override;

  std::optional<Parameter<T>> weight;  // [num_buckets, num_heads]; not set with `alibi`

 private:
  RelativePositionBiasOptions options_;
};

extern template struct RelativePositionBias<float>;
extern template struct RelativePositionBias<double>;

}  // namespace weft
