#include "weft/train/data/pairs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/autograd/ops/losses.hpp"
#include "autograd/internal/checks.hpp"
#include "train/data/internal/fingerprint.hpp"
#include "train/data/internal/pad_rows.hpp"

namespace weft {
namespace {

Index length(const Sequence& sequence) { return static_cast<Index>(sequence.size()); }

std::vector<SequencePair> checked_sources(std::vector<SequencePair> pairs) {
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].source.empty())
      fail<ValueError>("pairs", "a source of at least one token",
                       concatenate_text("none in pair ", i));
  return pairs;
}

std::vector<SequencePair> pairs_without_sources(std::vector<Sequence> targets) {
  std::vector<SequencePair> pairs;
  for (Sequence& target : targets) pairs.push_back({{}, std::move(target)});
  return pairs;
}

std::vector<ExampleLengths> lengths_of(const std::vector<SequencePair>& pairs) {
  std::vector<ExampleLengths> lengths;
  for (const auto& [source, target] : pairs) lengths.push_back({length(source), length(target)});
  return lengths;
}

std::uint64_t fingerprint_of(const std::vector<SequencePair>& pairs, const BatchOptions& options) {
  Fingerprint fingerprint;
  fingerprint.add(options);
  for (const auto& pair : pairs)
    for (const Sequence* sequence : {&pair.source, &pair.target}) {
      fingerprint.add(length(*sequence));
      for (TokenId token : *sequence) fingerprint.add(std::int64_t{token});
    }
  return fingerprint.value();
}

constexpr TokenId ignored = CrossEntropyOptions{}.ignore_index;

// Labels first … last; when `width` is given, without the columns from there on, which must be
// padding.
Tokens rows_of(const Tokens& labels, Index first, Index last, std::optional<Index> width) {
  const Index columns = labels.shape().without(0).elements();
  const Index kept = width.value_or(columns);
  Tokens rows(width ? Shape{last - first, kept} : labels.shape().with(0, last - first));
  TokenId* to = rows.data();
  for (Index row = first; row < last; ++row) {
    const TokenId* from = labels.data() + row * columns;
    to = std::copy(from, from + kept, to);
    const TokenId* lost =
        std::find_if(from + kept, from + columns, [](TokenId label) { return label != ignored; });
    if (lost != from + columns)
      fail<ValueError>("batch: labels", "none past the target's length",
                       concatenate_text("one at ", Shape{row, lost - from}));
  }
  return rows;
}

}  // namespace

Index num_examples(const PairBatch& batch) {
  const Shape& source = batch.source.tokens.shape();
  if (source.rank() != 2)
    fail<ShapeError>("batch: source", "tokens [batch, time], with time 0 for none",
                     concatenate_text("shape ", source));
  const Index examples = source[0];
  check_padded("batch: source", batch.source, examples);
  check_padded("batch: target", batch.target, examples);
  const Shape& labels = batch.labels.shape();
  if (labels.rank() == 0 || labels[0] != examples)
    fail<ShapeError>("batch: labels", concatenate_text("shape [", examples, ", …]"), labels);
  if (!batch.examples.empty() && std::ssize(batch.examples) != examples)
    fail<ShapeError>("batch: examples", concatenate_text(examples, " indices or none"),
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
    fail<ValueError>("part of a batch", concatenate_text("0 ≤ first ≤ last ≤ ", examples),
                     concatenate_text("first ", first, " and last ", last));
  PairBatch part;
  part.source = part_of(batch.source, first, last);
  part.target = part_of(batch.target, first, last);
  const bool has_targets_shape = batch.labels.shape() == batch.target.tokens.shape();
  part.labels =
      rows_of(batch.labels, first, last,
              has_targets_shape ? std::optional(part.target.tokens.shape()[1]) : std::nullopt);
  part.num_labels = std::ranges::count_if(std::as_const(part.labels),
                                          [](TokenId label) { return label != ignored; });
  if (!batch.examples.empty())
    part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  return part;
}

PairBatches::PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options)
    : pairs_(checked_sources(std::move(pairs))),
      sampler_(lengths_of(pairs_), options),
      fingerprint_(fingerprint_of(pairs_, options)) {}

PairBatches::PairBatches(std::vector<Sequence> targets, const BatchOptions& options)
    : pairs_(pairs_without_sources(std::move(targets))),
      sampler_(lengths_of(pairs_), options),
      fingerprint_(fingerprint_of(pairs_, options)) {}

PairBatch PairBatches::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> examples = sampler_.batch(epoch, position);
  const auto count = static_cast<Index>(examples.size());
  const auto pair = [&](std::size_t i) -> const SequencePair& {
    return pairs_[static_cast<std::size_t>(examples[i])];
  };
  PairBatch batch;
  batch.source =
      pad_rows(count, Vocabulary::pad, [&](std::size_t i, Sequence& row) { row = pair(i).source; });
  batch.target = pad_rows(count, Vocabulary::pad, [&](std::size_t i, Sequence& row) {
    row.push_back(Vocabulary::bos);
    row.insert(row.end(), pair(i).target.begin(), pair(i).target.end());
  });
  const PaddedTokens labels = pad_rows(count, ignored, [&](std::size_t i, Sequence& row) {
    row = pair(i).target;
    row.push_back(Vocabulary::eos);
  });
  batch.labels = labels.tokens;
  for (std::int32_t label_count : labels.valid_lens.lengths()) batch.num_labels += label_count;
  batch.examples.assign(examples.begin(), examples.end());
  return batch;
}

}  // namespace weft
