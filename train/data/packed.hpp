// PackedBatches: batches that pack several token sequences into each row, for fine-tuning language
// models.
#pragma once

#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// A tokenized training example. The model predicts each learned token from all tokens before it.
struct LearnedText {
  TokenIds tokens;  // at least two
  // For each token, whether it counts toward the loss (an answer) or is only read (a question).
  std::vector<bool> learned;
};

// A batch of rows that contain several examples each.
struct PackedBatch {
  Tokens inputs;   // [batch, length]
  Tokens targets;  // [batch, length]: the next token, or CrossEntropyOptions::ignore_index
  // A causal mask that is also limited to tokens of the same example, [batch, length, length]. Its
  // `positions` [batch, length] start at 0 in each example. Position encodings need them:
  // `position(x, batch.mask.positions)`; a Gpt takes them from the mask.
  Mask mask;
};

// Returns the number of rows.
inline Index num_examples(const PackedBatch& batch) { return batch.inputs.shape()[0]; }
// Returns the number of learned tokens.
WEFT_API Index num_labels(const PackedBatch& batch);
// Reports show tokens per second.
template <>
inline constexpr const char* label_unit<PackedBatch> = "tokens";
// Returns rows [first, last). Throws ValueError unless 0 ≤ first ≤ last ≤ num_examples.
WEFT_API PackedBatch part_of(const PackedBatch& batch, Index first, Index last);

// Options of PackedBatches.
struct PackedOptions {
  Index length = 512;      // tokens per row
  Index batch_size = 4;    // rows per batch
  std::uint64_t seed = 0;  // seed for the order of the rows
  // If false, rows have the same order in every epoch: by decreasing length of their longest
  // example.
  bool shuffle = true;
  // Whether an epoch leaves out the rows that do not fill a batch; see BatchOptions.
  bool drop_last = false;
};

// Batches of packed examples. Examples are packed once, the longest first, each into the first row
// that has space for it (first-fit decreasing). The end of a row is padded. Every epoch contains
// each row once; see PackedOptions for the order and for `drop_last`.
//   PackedBatches batches({{.tokens = {5, 6, 7}, .learned = {false, false, true}}}, {.length = 8});
class WEFT_API PackedBatches final : public DataSource<PackedBatch> {
 public:
  // Throws ValueError for options outside their ranges and if there are no examples. Also throws
  // ValueError, naming the number of the example (from 1), if an example has fewer than 2 or more
  // than `length` + 1 tokens, if `learned` has a different size than `tokens`, or if no token after
  // the first is learned.
  PackedBatches(std::vector<LearnedText> texts, const PackedOptions& options);

  Index num_batches() const override { return sampler_.num_batches(); }
  PackedBatch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  std::vector<LearnedText> texts_;
  std::vector<std::vector<std::size_t>> rows_;  // indices of the examples in each row
  PackedOptions options_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
