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
  PaddedTokens source;  // [batch, longest source]; [batch, 0] without sources
  // The decoder's input, <bos> and the target: [batch, longest target + 1]; [batch, 0] without
  // targets.
  PaddedTokens target;
  // The target and <eos>, with the shape of `target`, padded with
  // CrossEntropyOptions::ignore_index. Labels of other shapes [batch, …] are also possible, for
  // example for a classifier.
  Tokens labels;
  Index num_labels = 0;         // number of labels that are not padding
  std::vector<Index> examples;  // indices of the examples in the dataset; may be empty
};

// Returns the number of examples. Throws ShapeError or ValueError, naming the field, if the fields
// have different numbers of rows or a length exceeds the number of columns.
WEFT_API Index num_examples(const PairBatch& batch);
// Returns `batch.num_labels`. Throws ValueError if it is negative.
WEFT_API Index num_labels(const PairBatch& batch);
// Reports show tokens per second.
template <>
inline constexpr const char* label_unit<PairBatch> = "tokens";

// Returns examples [first, last), padded to the longest of them. Labels that have the shape of
// `target` are cut to the same length; labels of other shapes keep theirs. Throws ValueError unless
// 0 ≤ first ≤ last ≤ num_examples and if a label would be cut off, and the same exceptions as
// num_examples.
WEFT_API PairBatch part_of(const PairBatch& batch, Index first, Index last);

// A source sequence and its target sequence, for example letters and phones.
struct SequencePair {
  TokenIds source;  // not empty
  TokenIds target;  // without <bos> and <eos>
};

// Batches of pairs, bucketed by length.
//   PairBatches pairs({{{4, 5, 6}, {7, 8}}, {{9}, {4, 4}}}, {.batch_size = 2});
//   const PairBatch batch = pairs.batch(0, 0);  // batch.source.tokens [2, 3]
class WEFT_API PairBatches final : public DataSource<PairBatch> {
 public:
  // Throws ValueError for an empty source, naming the pair's index, if there are no pairs, and for
  // options outside their ranges.
  explicit PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options = {});
  // Batches of targets only, for a decoder-only model; every source is empty. Throws ValueError if
  // there are no targets and for options outside their ranges.
  explicit PairBatches(std::vector<TokenIds> targets, const BatchOptions& options = {});

  Index num_batches() const override { return sampler_.num_batches(); }
  PairBatch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  const std::vector<SequencePair>& pairs() const { return pairs_; }  // in the given order

 private:
  std::vector<SequencePair> pairs_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
