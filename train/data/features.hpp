// FeatureBatches: padded batches of sequences of feature vectors with labels, such as speech,
// movements or other measurements.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// A sequence of feature vectors, and its class or its transcript.
struct LabelledFeatures {
  Tensor<float> features;  // [time, features], time > 0
  TokenIds labels = {};    // one class, or any number of labels
};

// A batch of sequences of feature vectors.
struct FeatureBatch {
  Tensor<float> features = {};  // [batch, longest, features], padded at the end with zeros
  ValidLens valid_lens = {};    // [batch]: the lengths of the sequences
  // [batch] if every example of the dataset has one label; otherwise [batch, most labels], padded
  // at the end with CrossEntropyOptions::ignore_index.
  Tokens labels = {};
  ValidLens label_lens = {};         // [batch]: the numbers of labels
  std::vector<Index> examples = {};  // indices of the examples in the dataset; may be empty
};

// Returns the number of sequences. Throws ShapeError if the fields have different numbers of rows.
WEFT_API Index num_examples(const FeatureBatch& batch);
// Returns the number of feature vectors, with padding.
WEFT_API Index num_positions(const FeatureBatch& batch);
// Reports show sequences per second.
template <>
inline constexpr const char* label_unit<FeatureBatch> = "sequences";
// Returns examples [first, last) with the padding of the batch. Throws ValueError unless
// 0 ≤ first ≤ last ≤ num_examples, and the same exceptions as num_examples.
WEFT_API FeatureBatch part_of(const FeatureBatch& batch, Index first, Index last);

// Batches of sequences of feature vectors in memory, bucketed by length. They fit
// `cross_entropy(logits, batch.labels)` for classes, and for transcripts
// `ctc_loss(log_probs, batch.labels, batch.valid_lens, batch.label_lens)`.
//   FeatureBatches batches({{Tensor<float>({5, 13}), {4}}, {Tensor<float>({7, 13}), {2}}});
//   const FeatureBatch batch = batches.batch(0, 0);  // features [2, 7, 13], labels [2]
class WEFT_API FeatureBatches final : public DataSource<FeatureBatch> {
 public:
  // Throws ValueError if there are no examples and for options outside their ranges. Throws
  // ShapeError, naming the example, unless all have features [time > 0, features] with the same
  // number of features.
  explicit FeatureBatches(std::vector<LabelledFeatures> examples, const BatchOptions& options = {});

  Index num_batches() const override { return sampler_.num_batches(); }
  FeatureBatch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  std::vector<LabelledFeatures> examples_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
  bool has_one_label_;  // whether each example has exactly one label
};

}  // namespace weft
