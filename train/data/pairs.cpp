#include "weft/train/data/pairs.hpp"

#include <algorithm>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/train/data/tensor_batch.hpp"
#include "autograd/internal/checks.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {
namespace {

std::vector<SequencePair> checked_sources(std::vector<SequencePair> pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].source.empty())
      fail<ValueError>("pairs", "a source of at least one token",
                       str_cat("an empty source in pair ", i));
  return pairs;
}

std::vector<SequencePair> pairs_without_sources(std::vector<TokenIds> targets) {
  std::vector<SequencePair> pairs;
  for (TokenIds& target : targets) pairs.push_back({{}, std::move(target)});
  return pairs;
}

std::vector<ExampleLengths> lengths_of(const std::vector<SequencePair>& pairs) {
  std::vector<ExampleLengths> lengths;
  for (const auto& [source, target] : pairs)
    lengths.push_back({std::ssize(source), std::ssize(target)});
  return lengths;
}

std::uint64_t fingerprint_of(const std::vector<SequencePair>& pairs, const BatchOptions& options) {
  Fingerprint fingerprint(options);
  for (const auto& [source, target] : pairs) {
    fingerprint.add(source);
    fingerprint.add(target);
  }
  return fingerprint.value();
}

const TokenId ignored = CrossEntropyOptions{}.ignore_index;

// Returns the labels from row `first` of a batch on, without the columns from `width` on, which
// must be padding.
Tokens narrowed(const Tokens& labels, Index first, Index width) {
  const Index rows = labels.shape()[0], columns = labels.shape()[1];
  Tokens kept({rows, width});
  for (Index row = 0; row < rows; ++row)
    for (Index column = 0; column < columns; ++column)
      if (column < width)
        kept(row, column) = labels(row, column);
      else if (labels(row, column) != ignored)
        fail<ValueError>("batch: labels", "no labels past the end of the target",
                         str_cat("a label at ", Shape{first + row, column}));
  return kept;
}

}  // namespace

Index num_examples(const PairBatch& batch) {
  const Shape& source = batch.source.tokens.shape();
  if (source.rank() != 2)
    fail<ShapeError>("batch: source", "tokens [batch, time], or [batch, 0] without sources",
                     str_cat("shape ", source));
  const Index examples = source[0];
  check_padded("batch: source", batch.source, examples);
  check_padded("batch: target", batch.target, examples);
  const Shape& labels = batch.labels.shape();
  if (labels.rank() == 0 || labels[0] != examples)
    fail<ShapeError>("batch: labels", str_cat("shape [", examples, ", …]"), labels);
  if (!batch.examples.empty() && std::ssize(batch.examples) != examples)
    fail<ShapeError>("batch: examples", str_cat(examples, " indices or an empty list"),
                     batch.examples.size());
  return examples;
}

Index num_labels(const PairBatch& batch) {
  check_at_least("batch: num_labels", batch.num_labels, Index{0});
  return batch.num_labels;
}

PairBatch part_of(const PairBatch& batch, Index first, Index last) {
  const Index examples = num_examples(batch);
  if (!(0 <= first && first <= last && last <= examples))
    fail<ValueError>("part of a batch", str_cat("0 ≤ first ≤ last ≤ ", examples),
                     str_cat("first ", first, " and last ", last));
  PairBatch part;
  part.source = part_of(batch.source, first, last);
  part.target = part_of(batch.target, first, last);
  part.labels = rows_of(batch.labels, first, last);
  if (batch.labels.shape() == batch.target.tokens.shape())
    part.labels = narrowed(part.labels, first, part.target.tokens.shape()[1]);
  part.num_labels = num_counted(part.labels);
  if (!batch.examples.empty())
    part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  return part;
}

PairBatches::PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options)
    : pairs_(checked_sources(std::move(pairs))),
      sampler_(lengths_of(pairs_), options),
      fingerprint_(fingerprint_of(pairs_, options)) {}

PairBatches::PairBatches(std::vector<TokenIds> targets, const BatchOptions& options)
    : pairs_(pairs_without_sources(std::move(targets))),
      sampler_(lengths_of(pairs_), options),
      fingerprint_(fingerprint_of(pairs_, options)) {}

PairBatch PairBatches::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> examples = sampler_.batch(epoch, position);
  PairBatch batch;
  std::vector<TokenIds> sources, inputs, labels;
  for (const Index example : examples) {
    const auto& [source, target] = pairs_[static_cast<std::size_t>(example)];
    sources.push_back(source);
    inputs.push_back({Vocabulary::bos});
    inputs.back().insert(inputs.back().end(), target.begin(), target.end());
    labels.push_back(target);
    labels.back().push_back(Vocabulary::eos);
    batch.num_labels += std::ssize(labels.back());
  }
  batch.source = pad_sequences(sources);
  batch.target = pad_sequences(inputs);
  batch.labels = pad_sequences(labels, ignored).tokens;
  batch.examples.assign(examples.begin(), examples.end());
  return batch;
}

}  // namespace weft
