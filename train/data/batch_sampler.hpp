// BatchSampler: divides examples into batches, in an order that depends on seed and epoch only.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"

namespace weft {

// Options of BatchSampler, and of the data sources that use one.
struct BatchOptions {
  // Examples per batch; one batch of an epoch has the remaining ones, unless `drop_last`.
  Index batch_size = 32;
  // Determines the order of the examples, together with the epoch.
  std::uint64_t seed = 0;
  // When false, examples are only sorted, in the same order in every epoch.
  bool shuffle = true;
  // The size in batches of the buckets within which examples are sorted by length. Larger buckets
  // need less padding and shuffle less.
  Index bucket_batches = 64;
  // Whether an epoch leaves out the examples that do not fill a batch: with `shuffle`, random ones,
  // different in each epoch; otherwise the last ones. As torch's DataLoader.
  bool drop_last = false;
};

// The random numbers of a batch of an epoch, apart from those of all others and of the order.
WEFT_API Random batch_random(std::uint64_t seed, std::int64_t epoch, Index position);

// The lengths of an example. Examples are sorted by the source first, which needs less padding than
// sorting by the sum.
struct ExampleLengths {
  Index source = 0;  // in tokens
  Index target = 0;  // in tokens; 0 without one
  friend auto operator<=>(const ExampleLengths&, const ExampleLengths&) = default;
};

// Divides examples into batches: shuffles them, sorts them by length within buckets, splits the
// buckets into batches and shuffles the batches. Every example is in exactly one batch of every
// epoch, or with `drop_last` in at most one.
//   BatchSampler sampler({{.source = 5}, {.source = 3}, {.source = 4}}, {.batch_size = 2});
//   const std::span<const Index> examples = sampler.batch(0, 0);
class WEFT_API BatchSampler {
 public:
  // Throws ValueError when there is no example, batch_size or bucket_batches is not positive, or
  // there are fewer examples than batch_size although drop_last is set.
  BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options);

  // The number of batches per epoch.
  Index num_batches() const;
  // The indices of a batch's examples; valid until the next call. Throws ValueError unless
  // epoch ≥ 0 and 0 ≤ position < num_batches().
  std::span<const Index> batch(std::int64_t epoch, Index position);

 private:
  void order_epoch(std::int64_t epoch);

  BatchOptions options_;
  std::vector<ExampleLengths> lengths_;
  std::int64_t ordered_epoch_ = -1;
  std::vector<Index> order_;   // examples of the ordered epoch
  std::vector<Index> starts_;  // of each batch in `order_`, by position
};

}  // namespace weft
