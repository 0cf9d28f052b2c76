// BatchSampler: divides examples into batches, in an order that depends only on seed and epoch.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// Options of BatchSampler and of the data sources that use it.
struct BatchOptions {
  // Examples per batch. One batch of an epoch is smaller if the number of examples is not a
  // multiple of it, unless `drop_last` is set.
  Index batch_size = 32;
  // Determines the order of the examples, together with the epoch.
  std::uint64_t seed = 0;
  // If false, examples are only sorted within buckets, and every epoch has the same order.
  bool shuffle = true;
  // The size in batches of the buckets within which examples are sorted by length. Larger buckets
  // need less padding and shuffle less.
  Index bucket_batches = 64;
  // Whether an epoch leaves out the examples that do not fill a batch, like torch's DataLoader:
  // with `shuffle`, random examples, different in each epoch; otherwise the last examples.
  bool drop_last = false;
  // The relative frequency of each example, finite and ≥ 0: an epoch draws as many examples as
  // there are, at random and with repetition (torch's WeightedRandomSampler; see balanced_weights).
  // Requires `shuffle`. If empty, an epoch contains every example once.
  std::vector<double> weights = {};
};

// Returns weights for BatchOptions with which every class is drawn equally often: 1 divided by the
// number of examples of the class. `labels` [n] contains the class of each example.
//   TensorBatches batches(X, targets, {.weights = balanced_weights(targets)});
WEFT_API std::vector<double> balanced_weights(const Tensor<std::int32_t>& labels);

// Returns a random number generator for one batch of an epoch, independent of the generators of
// other batches and of the generator that determines the order.
WEFT_API Random batch_random(std::uint64_t seed, std::int64_t epoch, Index position);

// The lengths of an example. Examples are sorted by source length, then by target length, which
// needs less padding than sorting by the sum.
struct ExampleLengths {
  Index source = 0;  // number of source tokens
  Index target = 0;  // number of target tokens; 0 if the example has no target
  friend auto operator<=>(const ExampleLengths&, const ExampleLengths&) = default;
};

// Divides examples into batches: shuffles them, sorts them by length within buckets, splits the
// buckets into batches and shuffles the batches. Every example is in exactly one batch of every
// epoch, or in at most one with `drop_last`. With BatchOptions::weights, it draws the examples.
//   BatchSampler sampler({{.source = 5}, {.source = 3}, {.source = 4}}, {.batch_size = 2});
//   const std::span<const Index> examples = sampler.batch(0, 0);
class WEFT_API BatchSampler {
 public:
  // Takes the lengths of each example. Throws ValueError if there are no examples, if batch_size or
  // bucket_batches is not positive, if drop_last is set and there are fewer examples than
  // batch_size, and unless the weights, if any, are one for each example, in range and not all 0.
  BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options);

  // Returns the number of batches per epoch.
  Index num_batches() const;
  // Returns the indices of a batch's examples; the span is valid until the next call. Throws
  // ValueError unless epoch ≥ 0 and 0 ≤ position < num_batches().
  std::span<const Index> batch(std::int64_t epoch, Index position);

 private:
  void order_epoch(std::int64_t epoch);

  BatchOptions options_;
  std::vector<ExampleLengths> lengths_;
  std::int64_t ordered_epoch_ = -1;
  std::vector<Index> order_;   // examples of the ordered epoch
  std::vector<Index> starts_;  // where each batch starts in `order_`, by position
};

}  // namespace weft
