// PairBatches: padded batches of pairs of token sequences.
#pragma once

#include <cstdint>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/padding.hpp"

namespace weft {

// A batch of pairs of sequences, for a sequence-to-sequence model.
struct PairBatch {
  PaddedTokens source;  // [batch, longest source]; [batch, 0] for none
  // <bos> and the target: the decoder's input, [batch, longest target + 1]; [batch, 0] for none.
  PaddedTokens target;
  // The target and <eos>, of the shape of `target`, padded with CrossEntropyOptions::ignore_index.
  // Or [batch, …], as for a classifier.
  Tokens labels;
  Index num_labels = 0;         // labels that are not padding
  std::vector<Index> examples;  // indices of the examples in the data set; may be left out
};

// The number of examples of a batch. Throws ShapeError or ValueError, naming the field, when a
// field has not as many rows or lengths outside of its tokens.
WEFT_API Index num_examples(const PairBatch& batch);
// Labels that are not padding. Throws ValueError for a negative number.
WEFT_API Index num_labels(const PairBatch& batch);
// What its labels are.
template <>
inline constexpr const char* label_unit<PairBatch> = "tokens";

// Returns examples first … last of a batch, padded to the longest of them. Labels of the shape of
// `target` are cut with it, others are unchanged. Throws what num_examples throws, and ValueError
// unless 0 ≤ first ≤ last ≤ num_examples or when a label would be cut off.
WEFT_API PairBatch part_of(const PairBatch& batch, Index first, Index last);

// A source sequence and its target, for example letters and phones.
struct SequencePair {
  TokenIds source;  // not empty
  TokenIds target;  // without <bos> and <eos>
};

// Batches of pairs, bucketed by length.
//   PairBatches pairs({{{4, 5, 6}, {7, 8}}, {{9}, {4, 4}}}, {.batch_size = 2});
//   const PairBatch batch = pairs.batch(0, 0);  // batch.source.tokens [2, 3]
class WEFT_API PairBatches final : public DataSource<PairBatch> {
 public:
  // Throws ValueError as BatchSampler does, and for an empty source, naming the pair.
  explicit PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options = {});
  // Targets only, for a decoder-only model; every source is empty.
  explicit PairBatches(std::vector<TokenIds> targets, const BatchOptions& options = {});

  Index num_batches() const override { return sampler_.num_batches(); }
  PairBatch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  const std::vector<SequencePair>& pairs() const { return pairs_; }  // all, in their order

 private:
  std::vector<SequencePair> pairs_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
