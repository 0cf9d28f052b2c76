// DataSource: batches of any type, for training and evaluation; and what the trainer asks of a
// batch.
#pragma once

#include <cstdint>

#include "weft/autograd/shape.hpp"

namespace weft {

// The batches of epochs without end. A batch is identified by an epoch and a position in it, both
// from 0; the same epoch and position always give the same batch.
//   struct Noise : DataSource<Tensor<float>> {
//     Index num_batches() const override { return 10; }
//     Tensor<float> batch(std::int64_t epoch, Index position) override {
//       return batch_random(7, epoch, position).normal_tensor({2, 3});
//     }
//   };
template <class B>
class DataSource {
 public:
  virtual ~DataSource() = default;
  // The number of batches per epoch.
  virtual Index num_batches() const = 0;
  // A batch. Throws ValueError unless epoch ≥ 0 and 0 ≤ position < num_batches().
  virtual B batch(std::int64_t epoch, Index position) = 0;
  // Returns a hash of the examples, their order and their division into batches. A training that
  // resumes with a different fingerprint is refused. The default is 0, "unknown": the trainer then
  // cannot notice different data.
  virtual std::uint64_t fingerprint() const { return 0; }
};

// A batch type is any struct. These functions, declared beside it, say more about it:
//   struct B {};
//   Index num_examples(const B& batch);
//   B part_of(const B& batch, Index first, Index last);  // examples first … last - 1
//   Index num_labels(const B& batch);  // over which the mean of the loss is taken
// The first two are required for parts, which run in parallel. The third one is counted in reports
// (labels per second), and is the weight of a part or batch among several if its loss does not say
// (see WeightedLoss). Without it, each example has the same weight, and without `num_examples` each
// batch.
template <class B>
concept has_num_labels = requires(const B& batch) {
  Index{num_labels(batch)};
};
// See has_num_labels.
template <class B>
concept has_num_examples = requires(const B& batch) {
  Index{num_examples(batch)};
};
// See has_num_labels.
template <class B>
concept has_parts = has_num_examples<B> && requires(const B& batch, Index i) {
  B{part_of(batch, i, i)};
};

// What the labels of a batch are, for reports: "tokens", "sequences". Specialized beside the type.
template <class B>
inline constexpr const char* label_unit = has_num_labels<B>     ? "labels"
                                          : has_num_examples<B> ? "examples"
                                                                : "batches";

// Returns the number of labels of a batch: `num_labels`, or the number of examples if that is not
// declared, or else 1.
template <class B>
Index labels_of(const B& batch) {
  if constexpr (has_num_labels<B>)
    return num_labels(batch);
  else if constexpr (has_num_examples<B>)
    return num_examples(batch);
  else
    return 1;
}

}  // namespace weft
