// LabelledBatches: padded batches of labelled token sequences, for classifiers.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/padding.hpp"

namespace weft {

// A batch of token sequences with one label each.
struct LabelledBatch {
  PaddedTokens sequences = {};       // [batch, longest]
  Tokens labels = {};                // [batch]
  std::vector<Index> examples = {};  // indices of the examples in the dataset; may be empty
};

// Returns the number of sequences. Throws ShapeError or ValueError, naming the field, if the fields
// have different numbers of rows or a length exceeds the number of columns.
WEFT_API Index num_examples(const LabelledBatch& batch);
// Returns the number of labels that `cross_entropy` counts by default (see num_counted).
WEFT_API Index num_labels(const LabelledBatch& batch);
// Returns the number of tokens, with padding.
WEFT_API Index num_positions(const LabelledBatch& batch);
// Reports show sequences per second.
template <>
inline constexpr const char* label_unit<LabelledBatch> = "sequences";
// Returns examples [first, last), padded to the longest of them. Throws ValueError unless
// 0 ≤ first ≤ last ≤ num_examples, and the same exceptions as num_examples.
WEFT_API LabelledBatch part_of(const LabelledBatch& batch, Index first, Index last);

// A sequence and its label.
struct LabelledSequence {
  TokenIds sequence;  // not empty
  TokenId label = 0;  // class of the sequence
};

// Batches of labelled sequences in memory, bucketed by length.
//   LabelledBatches batches({{{4, 5, 6}, 0}, {{7, 8}, 1}}, {.batch_size = 2});
//   const LabelledBatch batch = batches.batch(0, 0);  // batch.labels [2]
class WEFT_API LabelledBatches final : public DataSource<LabelledBatch> {
 public:
  // Throws ValueError if there are no examples, for an empty sequence, naming its index, and for
  // options outside their ranges.
  explicit LabelledBatches(std::vector<LabelledSequence> examples,
                           const BatchOptions& options = {});

  Index num_batches() const override { return sampler_.num_batches(); }
  LabelledBatch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  std::vector<LabelledSequence> examples_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
