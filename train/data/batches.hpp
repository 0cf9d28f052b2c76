// Batches: padded batches of sequences, in an order that depends on seed and epoch only.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// A batch of sequences, the shorter ones padded at their end.
struct PaddedTokens {
  Tokens tokens;         // [batch, longest]
  ValidLens valid_lens;  // [batch]
};

// Pads sequences to the longest of them. Throws ValueError when there is none.
WEFT_API PaddedTokens pad_sequences(std::span<const Sequence> sequences,
                                    TokenId pad = Vocabulary::pad);

// A batch of examples, by default for a sequence-to-sequence model.
struct Batch {
  PaddedTokens source;   // [batch, longest source]; [batch, 0] for none
  PaddedTokens target;   // <bos> and the target: the decoder's input; [batch, longest target + 1],
                         // or [batch, 0] for none
  Tokens labels;         // the target and <eos>, of the shape of `target`; padded with
                         // CrossEntropyOptions::ignore_index. Or [batch, …], as for a classifier
  Index num_labels = 0;  // labels that are not padding
  // The divisor of the loss summed over the labels: num_labels, or the total over all batches of an
  // update. For CrossEntropyOptions::divisor.
  double divisor = 1.0;
  std::vector<Index> examples;  // indices of the examples in the data set; may be left out
};

// The number of examples of a batch. Throws ShapeError or ValueError, naming the field, when a
// field has not as many rows or lengths outside of its tokens.
WEFT_API Index num_examples(const Batch& batch);

// Returns examples first … last of a batch, padded to the longest of them. Labels of the shape of
// `target` are cut with it, others are unchanged. The divisor is unchanged: losses and gradients of
// the parts of a batch add up to those of the batch. Throws what num_examples throws, and
// ValueError unless 0 ≤ first ≤ last ≤ num_examples or when a label would be cut off.
WEFT_API Batch part_of(const Batch& batch, Index first, Index last);

// The source of batches of a trainer. A batch is identified by an epoch and a position in it, both
// from 0; the same epoch and position always give the same batch.
class WEFT_API BatchSource {
 public:
  virtual ~BatchSource() = default;
  // The number of batches per epoch.
  virtual Index num_batches() const = 0;
  virtual Batch batch(std::int64_t epoch, Index position) = 0;
  // A hash of the examples, their order and their division into batches: detects that training
  // resumes with other data.
  virtual std::uint64_t fingerprint() const = 0;
};

struct BatchOptions {
  // Examples per batch; one batch of an epoch has the remaining ones.
  Index batch_size = 32;
  // Determines the order of the examples, together with the epoch.
  std::uint64_t seed = 0;
  // When false, examples are only sorted, in the same order in every epoch.
  bool shuffle = true;
  // The size in batches of the buckets within which examples are sorted by length. Larger buckets
  // need less padding and shuffle less.
  Index bucket_batches = 64;
};

// The lengths of an example. Examples are sorted by the source first, which needs less padding than
// sorting by the sum.
struct ExampleLengths {
  Index source = 0;
  Index target = 0;
  friend auto operator<=>(const ExampleLengths&, const ExampleLengths&) = default;
};

// Divides examples into batches: shuffles them, sorts them by length within buckets, splits the
// buckets into batches and shuffles the batches. Every example is in exactly one batch of every
// epoch.
class WEFT_API BatchSampler {
 public:
  // Throws ValueError when there is no example, or batch_size or bucket_batches is not positive.
  BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options);

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

// A source sequence and its target, for example letters and phones.
struct SequencePair {
  Sequence source;
  Sequence target;
};

// Batches of pairs, bucketed by length.
class WEFT_API PairBatches final : public BatchSource {
 public:
  // Throws ValueError as BatchSampler does, and for an empty source, naming the pair.
  explicit PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options = {});
  // Targets only, for a decoder-only model; every source is empty.
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
