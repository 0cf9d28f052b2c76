// Batches: sequences put together, padded, in an order that depends on seed and epoch only.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/ops/mask.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// Sequences side by side, the shorter ones padded at their end.
struct PaddedTokens {
  Tokens tokens;         // [batch, longest]
  ValidLens valid_lens;  // [batch]
};

// Throws ValueError when there is no sequence.
PaddedTokens pad_sequences(std::span<const Sequence> sequences, TokenId pad = Vocabulary::pad);

// What a training step sees: examples of a data set, as a model that reads a source sequence and
// writes a target sequence needs them.
struct Batch {
  PaddedTokens source;  // [batch, longest source]
  PaddedTokens target;  // <bos> and the target: what the decoder reads; [batch, longest target + 1]
  Tokens labels;        // the target and <eos>: what it is to write; as `target`, padded with
                        // CrossEntropyOptions::ignore_index
  Index num_labels = 0;  // labels that are not padding
  // What the loss summed over the labels is divided by: num_labels, or, where several batches make
  // up one update, that of all of them. For CrossEntropyOptions::divisor.
  double divisor = 1.0;
  std::vector<Index> examples;  // positions of the batch's examples in the data set
};

// Examples first … last of a batch, padded to the longest of them. The divisor stays: losses and
// gradients of the parts of a batch add up to those of the whole.
Batch part_of(const Batch& batch, Index first, Index last);

// Where a trainer gets its batches. A place in the data is an epoch and a position in it, both from
// 0; the same place always gives the same batch.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Batches in every epoch.
  virtual Index num_batches() const = 0;
  virtual Batch batch(std::int64_t epoch, Index position) = 0;
  // A number that changes with the examples, their order and their division into batches: tells
  // whether training goes on with the data it began with.
  virtual std::uint64_t fingerprint() const = 0;
};

struct BatchOptions {
  // Examples a batch; the last one of an epoch has what is left.
  Index batch_size = 32;
  // Decides the order of the examples, with the epoch.
  std::uint64_t seed = 0;
  // False: only sorted, alike in every epoch.
  bool shuffle = true;
  // How many batches' worth of examples are sorted by length at a time. More waste less on padding
  // and mix the examples less.
  Index bucket_batches = 64;
};

// How long an example is. Examples are sorted by the source first, which leaves less padding than a
// sort by the sum of both.
struct ExampleLengths {
  Index source = 0;
  Index target = 0;
  friend auto operator<=>(const ExampleLengths&, const ExampleLengths&) = default;
};

// Divides examples into batches: shuffles them, sorts them by length within buckets, cuts the
// buckets into batches and shuffles these. Every example is in exactly one batch of every epoch.
class BatchSampler {
 public:
  // Throws ValueError when there is no example, or batch_size or bucket_batches is not positive.
  BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options);

  Index num_batches() const;
  // The positions of a batch's examples; valid until the next call. Throws ValueError for a batch
  // that is not there.
  std::span<const Index> batch(std::int64_t epoch, Index position);

 private:
  void arrange(std::int64_t epoch);

  BatchOptions options_;
  std::vector<ExampleLengths> lengths_;
  std::int64_t arranged_epoch_ = -1;
  std::vector<Index> order_;   // examples of the arranged epoch, batch after batch
  std::vector<Index> starts_;  // of each batch in `order_`, in the order in which they are seen
};

// A sequence and what is to be made of it: letters and phones, say.
struct SequencePair {
  Sequence source;
  Sequence target;
};

// Batches of pairs, bucketed by length.
class PairBatches final : public BatchSource {
 public:
  // Throws ValueError as BatchSampler does, and for an empty source, naming the pair.
  explicit PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options = {});
  // Targets alone, for a model of one sequence; every source is empty.
  explicit PairBatches(std::vector<Sequence> targets, const BatchOptions& options = {});

  Index num_batches() const override { return sampler_.num_batches(); }
  Batch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }
  const std::vector<SequencePair>& pairs() const { return pairs_; }

 private:
  std::vector<SequencePair> pairs_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
