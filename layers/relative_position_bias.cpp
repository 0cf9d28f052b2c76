#include "weft/layers/relative_position_bias.hpp"

#include <algorithm>
#include <cmath>

#include "weft/autograd/ops/embedding.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

// The number of buckets for each direction, and how many of them are for a single distance.
Index buckets_of(const RelativePositionBiasOptions& options) {
  return options.bidirectional ? options.num_buckets / 2 : options.num_buckets;
}
Index single_of(const RelativePositionBiasOptions& options) { return buckets_of(options) / 2; }

const RelativePositionBiasOptions& checked(const RelativePositionBiasOptions& options) {
  check_positive("RelativePositionBias: num_heads", options.num_heads);
  if (options.alibi) return options;
  if (options.num_buckets < 0 || single_of(options) < 1)
    fail<ValueError>("RelativePositionBias: num_buckets",
                     str_cat("a number ≥ ", options.bidirectional ? 4 : 2), options.num_buckets);
  if (options.max_distance <= single_of(options))
    fail<ValueError>("RelativePositionBias: max_distance",
                     str_cat("a number > ", single_of(options)), options.max_distance);
  return options;
}

// Returns 2^(-8 (h + 1) / n) for the first n heads, where n is the largest power of two that is at
// most num_heads. The remaining heads have every second slope of a model with 2 n heads.
double slope(Index head, Index num_heads) {
  Index n = 1;
  while (2 * n <= num_heads) n *= 2;
  const Index step = head < n ? 2 * (head + 1) : 2 * (head - n) + 1;
  return std::exp2(-4.0 * static_cast<double>(step) / static_cast<double>(n));
}

}  // namespace

template <class T>
RelativePositionBias<T>::RelativePositionBias(const RelativePositionBiasOptions& options,
                                              Random& random)
    : options_(checked(options)) {
  if (!options.alibi)
    weight.emplace(random.normal_tensor<T>({options.num_buckets, options.num_heads}, 0.0, 0.02));
}

// Computes in single precision, like the implementations of pretrained models, because some
// distances are on the border of two buckets.
template <class T>
Index RelativePositionBias<T>::bucket(Index distance) const {
  const Index buckets = buckets_of(options_), single = single_of(options_);
  const bool is_after = options_.bidirectional && distance > 0;
  const Index first = is_after ? buckets : 0,
              size = is_after ? distance : std::max<Index>(0, -distance);
  if (size < single) return first + size;
  const auto number = [](Index index) { return static_cast<float>(index); };
  const auto range = static_cast<float>(
      std::log(static_cast<double>(options_.max_distance) / static_cast<double>(single)));
  const float place = std::log(number(size) / number(single)) / range * number(buckets - single);
  return first + std::min(single + static_cast<Index>(place), buckets - 1);
}

template <class T>
Var<T> RelativePositionBias<T>::operator()(Tape<T>& tape, Index num_queries, Index num_keys) const {
  if (num_queries < 0 || num_keys < 0)
    fail<ValueError>("RelativePositionBias", "num_queries ≥ 0 and num_keys ≥ 0",
                     str_cat(num_queries, " and ", num_keys));
  const Index heads = options_.num_heads,
              distances = std::max<Index>(0, num_queries + num_keys - 1);
  if (options_.alibi) {
    Tensor<T> bias = tape.uninitialized({heads, distances});
    for (Index head = 0; head < heads; ++head)
      for (Index i = 0; i < distances; ++i)
        bias(head, i) =
            static_cast<T>(-slope(head, heads) * std::abs(static_cast<double>(i - (num_keys - 1))));
    return tape.constant(std::move(bias));
  }
  Tokens buckets = tape.template uninitialized<TokenId>({distances});
  for (Index i = 0; i < distances; ++i)
    buckets.data()[i] = static_cast<TokenId>(bucket(i - (num_keys - 1)));
  return permute(embedding(buckets, tape.parameter(*weight)), {1, 0});
}

template <class T>
void RelativePositionBias<T>::members(Members<T>& members) const {
  members.type("RelativePositionBias",
               options_.alibi ? str_cat("alibi, num_heads=", options_.num_heads)
                              : str_cat(options_.num_buckets, ", ", options_.num_heads));
  members("weight", weight);
}

template struct RelativePositionBias<float>;
template struct RelativePositionBias<double>;

}  // namespace weft
