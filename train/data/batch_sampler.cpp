#include "weft/train/data/batch_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/random.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

// Returns random numbers for a position of an epoch. Each `stream` is independent of the others.
Random epoch_random(std::uint64_t seed, std::int64_t epoch, std::uint32_t stream,
                    std::uint32_t position) {
  const auto number = static_cast<std::uint64_t>(epoch);
  const auto words = philox({static_cast<std::uint32_t>(number),
                             static_cast<std::uint32_t>(number >> 32), stream, position},
                            seed);
  return Random((std::uint64_t{words[1]} << 32) | words[0]);
}

}  // namespace

Random batch_random(std::uint64_t seed, std::int64_t epoch, Index position) {
  return epoch_random(seed, epoch, 2, static_cast<std::uint32_t>(position));
}

std::vector<double> balanced_weights(const Tensor<std::int32_t>& labels) {
  std::map<std::int32_t, double> counts;
  for (const std::int32_t label : labels) ++counts[label];
  std::vector<double> weights;
  for (const std::int32_t label : labels) weights.push_back(1.0 / counts[label]);
  return weights;
}

BatchSampler::BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options)
    : options_(options), lengths_(std::move(lengths)) {
  check_positive("batches: examples", static_cast<Index>(lengths_.size()));
  check_positive("batches: batch_size", options.batch_size);
  check_positive("batches: bucket_batches", options.bucket_batches);
  if (options.drop_last && std::ssize(lengths_) < options.batch_size)
    fail<ValueError>("batches: number of examples, with drop_last",
                     str_cat("at least the batch size, ", options.batch_size), lengths_.size());
  std::vector<double>& weights = options_.weights;
  if (!weights.empty()) {
    if (weights.size() != lengths_.size())
      fail<ValueError>("batches: weights",
                       str_cat("one for each of ", lengths_.size(), " examples"), weights.size());
    if (!options.shuffle) fail<ValueError>("batches: shuffle", "true, with weights", "false");
    for (const double weight : weights) check_finite_non_negative("batches: weights", weight);
    std::partial_sum(weights.begin(), weights.end(), weights.begin());
    if (!(weights.back() > 0.0 && std::isfinite(weights.back())))
      fail<ValueError>("batches: weights", "a finite sum > 0", weights.back());
  }
  // Prevents overflow in sums and products of the batch size.
  options_.batch_size = std::min(options.batch_size, static_cast<Index>(lengths_.size()));
}

Index BatchSampler::num_batches() const {
  const Index rounding = options_.drop_last ? 0 : options_.batch_size - 1;
  return (std::ssize(lengths_) + rounding) / options_.batch_size;
}

std::span<const Index> BatchSampler::batch(std::int64_t epoch, Index position) {
  if (epoch < 0 || position < 0 || position >= num_batches())
    fail<ValueError>("batch", str_cat("an epoch ≥ 0 and a position below ", num_batches()),
                     str_cat("epoch ", epoch, ", position ", position));
  if (epoch != ordered_epoch_) order_epoch(epoch);
  const auto start = static_cast<std::size_t>(starts_[static_cast<std::size_t>(position)]);
  const auto size = static_cast<std::size_t>(options_.batch_size);
  return std::span(order_).subspan(start, std::min(size, order_.size() - start));
}

void BatchSampler::order_epoch(std::int64_t epoch) {
  Random random = epoch_random(options_.seed, epoch, 1, 0xFFFFFFFF);
  order_.resize(lengths_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  if (options_.shuffle) random.shuffle(order_);
  if (const std::vector<double>& sums = options_.weights; !sums.empty())  // see the constructor
    for (Index& example : order_)
      example = std::upper_bound(sums.begin(), sums.end() - 1, random.uniform() * sums.back()) -
                sums.begin();
  // Drops examples before sorting, so that the longest examples are not always dropped.
  if (options_.drop_last)
    order_.resize(static_cast<std::size_t>(num_batches() * options_.batch_size));

  const auto count = static_cast<Index>(order_.size());
  const Index bucket = options_.batch_size * std::min(options_.bucket_batches, num_batches());
  for (Index begin = 0; begin < count; begin += bucket)
    std::stable_sort(order_.begin() + begin, order_.begin() + std::min(count, begin + bucket),
                     [&](Index a, Index b) {
                       return lengths_[static_cast<std::size_t>(a)] <
                              lengths_[static_cast<std::size_t>(b)];
                     });

  starts_.clear();
  for (Index start = 0; start < count; start += options_.batch_size) starts_.push_back(start);
  if (options_.shuffle) random.shuffle(starts_);
  ordered_epoch_ = epoch;
}

}  // namespace weft
