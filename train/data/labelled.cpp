#include "weft/train/data/labelled.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/data/tensor_batch.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {
namespace {

std::vector<ExampleLengths> checked_lengths(const std::vector<LabelledSequence>& examples) {
  std::vector<ExampleLengths> lengths;
  for (const auto& [sequence, label] : examples) {
    if (sequence.empty())
      fail<ValueError>("labelled sequences", "at least one token in each",
                       str_cat("no tokens in sequence ", lengths.size()));
    lengths.push_back({.source = std::ssize(sequence)});
  }
  return lengths;
}

}  // namespace

Index num_examples(const LabelledBatch& batch) {
  if (batch.labels.rank() != 1)
    fail<ShapeError>("batch: labels", "shape [batch]", batch.labels.shape());
  const Index examples = batch.labels.size();
  check_padded("batch: sequences", batch.sequences, examples);
  if (!batch.examples.empty() && std::ssize(batch.examples) != examples)
    fail<ShapeError>("batch: examples", str_cat(examples, " indices or an empty list"),
                     batch.examples.size());
  return examples;
}

Index num_labels(const LabelledBatch& batch) { return num_counted(batch.labels); }
Index num_positions(const LabelledBatch& batch) { return batch.sequences.tokens.size(); }

LabelledBatch part_of(const LabelledBatch& batch, Index first, Index last) {
  num_examples(batch);
  LabelledBatch part{.labels = rows_of(batch.labels, first, last)};
  part.sequences = part_of(batch.sequences, first, last);
  if (!batch.examples.empty())
    part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  return part;
}

LabelledBatches::LabelledBatches(std::vector<LabelledSequence> examples,
                                 const BatchOptions& options)
    : examples_(std::move(examples)), sampler_(checked_lengths(examples_), options) {
  Fingerprint fingerprint(options);
  for (const auto& [sequence, label] : examples_) {
    fingerprint.add(sequence);
    fingerprint.add(std::int64_t{label});
  }
  fingerprint_ = fingerprint.value();
}

LabelledBatch LabelledBatches::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> examples = sampler_.batch(epoch, position);
  LabelledBatch batch{.labels = Tokens({std::ssize(examples)}),
                      .examples = {examples.begin(), examples.end()}};
  std::vector<TokenIds> sequences;
  TokenId* label = batch.labels.data();
  for (const Index example : examples) {
    const LabelledSequence& labelled = examples_[static_cast<std::size_t>(example)];
    sequences.push_back(labelled.sequence);
    *label++ = labelled.label;
  }
  batch.sequences = pad_sequences(sequences);
  return batch;
}

}  // namespace weft
