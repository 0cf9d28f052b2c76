// DataSource: provides batches of any type for training and evaluation. Also declares the functions
// through which the trainer uses a batch.
#pragma once

#include <cstdint>

#include "weft/autograd/shape.hpp"

namespace weft {

// Base class of data sources, which provide batches for any number of epochs. A batch is identified
// by an epoch and a position in it, both from 0; the same epoch and position always yield the same
// batch.
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
  // Returns the number of batches per epoch.
  virtual Index num_batches() const = 0;
  // Returns a batch. Throws ValueError unless epoch ≥ 0 and 0 ≤ position < num_batches().
  virtual B batch(std::int64_t epoch, Index position) = 0;
  // Returns a hash of the examples, their order and their division into batches. The trainer
  // refuses to resume with a different fingerprint. The default, 0, means unknown: the trainer
  // cannot detect different data.
  virtual std::uint64_t fingerprint() const { return 0; }
};

// Whether a batch type B declares `num_labels`. A batch type is any struct; three optional
// functions in its namespace tell the trainer more about it:
//   struct Batch {
//     Tokens inputs, targets;
//   };
//   Index num_examples(const Batch& batch);
//   Batch part_of(const Batch& batch, Index first, Index last);  // examples [first, last)
//   Index num_labels(const Batch& batch);  // number of labels that the loss is averaged over
// num_examples and part_of are required to split batches into parts, which run in parallel. The
// number of labels is shown in reports (labels per second), and weights a batch or part if the loss
// does not determine its weight (see WeightedLoss). Without num_labels, each example counts as one
// label; without num_examples, too, each batch counts as one label.
template <class B>
concept has_num_labels = requires(const B& batch) {
  Index{num_labels(batch)};
};
// Whether a batch type declares `num_examples`; see has_num_labels.
template <class B>
concept has_num_examples = requires(const B& batch) {
  Index{num_examples(batch)};
};
// Whether batches of a type can be split into parts; see has_num_labels.
template <class B>
concept has_parts = has_num_examples<B> && requires(const B& batch, Index i) {
  B{part_of(batch, i, i)};
};

// The name of the labels of a batch type in reports, for example "tokens". Specialize it for your
// own batch types.
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

// Returns the number of positions that a model computes for a batch: `Index num_positions(const
// B&)` if that is declared, or else `labels_of`. The trainer estimates the work of a batch by it.
template <class B>
Index positions_of(const B& batch) {
  if constexpr (requires { Index{num_positions(batch)}; })
    return num_positions(batch);
  else
    return labels_of(batch);
}

}  // namespace weft
