// PackedBatches: token sequences of any length, several in each row of a batch, for fine-tuning
// language models.
#pragma once

#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/train/data/batch_sampler.hpp"
#include "weft/train/data/data_source.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// A text to learn from: the model predicts each token that is learned from those before it.
struct LearnedText {
  TokenIds tokens;  // two or more
  // Whether each token is learned (an answer) or only read (a question).
  std::vector<bool> learned;
};

// Rows of several texts each.
struct PackedBatch {
  Tokens inputs;   // [batch, length]
  Tokens targets;  // [batch, length]: the next token, or CrossEntropyOptions::ignore_index
  // Where tokens are of the same text, [batch, length, length]: with a causal mask, a text sees
  // itself only. Its `positions` [batch, length] begin at 0 in each text: layers that number
  // positions need them (`position(x, batch.mask.positions)`; a Gpt takes them from the mask).
  Mask mask;
};

// The number of rows.
inline Index num_examples(const PackedBatch& batch) { return batch.inputs.shape()[0]; }
// The number of tokens that are learned.
WEFT_API Index num_labels(const PackedBatch& batch);
// What its labels are.
template <>
inline constexpr const char* label_unit<PackedBatch> = "tokens";
// Rows first … last - 1. Throws ValueError unless 0 ≤ first ≤ last ≤ num_examples.
WEFT_API PackedBatch part_of(const PackedBatch& batch, Index first, Index last);

// Of PackedBatches.
struct PackedOptions {
  Index length = 512;      // tokens in a row of a batch
  Index batch_size = 4;    // rows in a batch
  std::uint64_t seed = 0;  // of the order of the rows
  // When false, texts stay in their order.
  bool shuffle = true;
  // Whether an epoch leaves out the rows that do not fill a batch; see BatchOptions.
  bool drop_last = false;
};

// Each text is in one row of one batch of every epoch, in the order of their lengths where they fit
// (first-fit decreasing); the rows' order is another one in each epoch. Rows end with padding.
//   PackedBatches batches({{.tokens = {5, 6, 7}, .learned = {false, false, true}}}, {.length = 8});
class WEFT_API PackedBatches final : public DataSource<PackedBatch> {
 public:
  // Throws ValueError when there are no texts, for one of fewer than two tokens, of more than
  // `length` + 1, of other sizes of its members, or in which nothing is learned (naming its
  // position, from 1), and for options outside their ranges.
  PackedBatches(std::vector<LearnedText> texts, const PackedOptions& options);

  Index num_batches() const override { return sampler_.num_batches(); }
  PackedBatch batch(std::int64_t epoch, Index position) override;
  std::uint64_t fingerprint() const override { return fingerprint_; }

 private:
  std::vector<LearnedText> texts_;
  std::vector<std::vector<std::size_t>> rows_;  // the texts of each row
  PackedOptions options_;
  BatchSampler sampler_;
  std::uint64_t fingerprint_;
};

}  // namespace weft
