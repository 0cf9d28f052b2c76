// TensorBatch: a batch of inputs and targets as two tensors. TensorBatches: a data source of them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "weft/autograd/error.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"

namespace weft {

// A batch of inputs and targets. X and Y are the element types: float, double or TokenId.
template <class X = float, class Y = X>
struct TensorBatch {
  Tensor<X> inputs;   // [batch, …]
  Tensor<Y> targets;  // [batch, …]
};

// Returns the number of rows. Throws ShapeError unless inputs and targets have the same number.
template <class X, class Y>
Index num_examples(const TensorBatch<X, Y>& batch) {
  const Shape &inputs = batch.inputs.shape(), &targets = batch.targets.shape();
  if (inputs.rank() == 0 || targets.rank() == 0 || inputs[0] != targets[0])
    fail<ShapeError>("batch", "inputs and targets [batch, …] of the same batch size",
                     str_cat(inputs, " and ", targets));
  return inputs[0];
}
// Returns the number of targets [...] that `cross_entropy` counts by default: all that differ from
// CrossEntropyOptions::ignore_index.
WEFT_API Index num_counted(const Tokens& targets);

// Returns the number of targets. Token ids that `cross_entropy` ignores by default do not count.
template <class X, class Y>
Index num_labels(const TensorBatch<X, Y>& batch) {
  if constexpr (std::is_same_v<Y, TokenId>)
    return num_counted(batch.targets);
  else
    return batch.targets.size();
}
// Returns the number of inputs: of token ids, or of vectors along the last axis.
template <class X, class Y>
Index num_positions(const TensorBatch<X, Y>& batch) {
  const Shape& inputs = batch.inputs.shape();
  if (std::is_same_v<X, TokenId> || inputs.rank() < 2) return batch.inputs.size();
  return inputs.columns() == 0 ? 0 : batch.inputs.size() / inputs.columns();
}
// Reports show targets per second.
template <class X, class Y>
inline constexpr const char* label_unit<TensorBatch<X, Y>> = "targets";
// Reports show tokens per second if both inputs and targets are token ids.
template <>
inline constexpr const char* label_unit<TensorBatch<TokenId>> = "tokens";

// Returns a copy of rows [first, last) of a tensor [n, …]. Throws ShapeError for a tensor without
// axes, and ValueError unless 0 ≤ first ≤ last ≤ n.
template <class E>
WEFT_API Tensor<E> rows_of(const Tensor<E>& tensor, Index first, Index last);

// Returns rows [first, last). Throws ValueError unless 0 ≤ first ≤ last ≤ num_examples, and the
// same exceptions as num_examples.
template <class X, class Y>
TensorBatch<X, Y> part_of(const TensorBatch<X, Y>& batch, Index first, Index last) {
  num_examples(batch);
  return {rows_of(batch.inputs, first, last), rows_of(batch.targets, first, last)};
}

// Batches of inputs and targets in memory, like torch's TensorDataset with a DataLoader. Instances:
// <float>, <double>, <float, TokenId>, <double, TokenId>, <TokenId>, <TokenId, float>.
//   TensorBatches batches(X, Y, {.batch_size = 16});  // X [100, 3], Y [100, 2]
//   const auto [inputs, targets] = batches.batch(0, 0);  // [16, 3], [16, 2]
template <class X = float, class Y = X>
class WEFT_API TensorBatches final : public DataSource<TensorBatch<X, Y>> {
 public:
  // inputs [n, …], targets [n, …]. Throws ShapeError if their numbers of rows differ, and
  // ValueError if there are no rows and for options outside their ranges.
  TensorBatches(Tensor<X> inputs, Tensor<Y> targets, const BatchOptions& options = {});

  Index num_batches() const override { return sampler_.num_batches(); }
  TensorBatch<X, Y> batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  TensorBatch<X, Y> examples_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
