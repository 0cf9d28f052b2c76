#include "weft/train/data/batches.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/autograd/ops/losses.hpp"
#include "weft/autograd/random.hpp"
#include "weft/train/data/fnv1a.hpp"
#include "autograd/internal/checks.hpp"

namespace weft {
namespace {

// The random numbers that shuffle an epoch.
Random epoch_random(std::uint64_t seed, std::int64_t epoch) {
  const auto number = static_cast<std::uint64_t>(epoch);
  const auto words = philox(
      {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), 1, 0xFFFFFFFF},
      seed);
  return Random((std::uint64_t{words[1]} << 32) | words[0]);
}

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
  Fnv1a fingerprint;
  for (Index number : {options.batch_size, options.bucket_batches, Index{options.shuffle}})
    fingerprint.add(std::int64_t{number});
  fingerprint.add(static_cast<std::int64_t>(options.seed));
  for (const auto& pair : pairs)
    for (const Sequence* sequence : {&pair.source, &pair.target}) {
      fingerprint.add(length(*sequence));
      for (TokenId token : *sequence) fingerprint.add(std::int64_t{token});
    }
  return fingerprint.value();
}

// Pads `count` rows to the same length; fill(i, row) appends row i to an empty sequence.
template <class Fill>
PaddedTokens pad_rows(Index count, TokenId pad, const Fill& fill) {
  Sequence row;
  const auto make_row = [&](Index i) -> const Sequence& {
    row.clear();
    fill(static_cast<std::size_t>(i), row);
    return row;
  };
  Index longest = 0;
  for (Index i = 0; i < count; ++i) longest = std::max(longest, length(make_row(i)));
  auto tokens = Tokens::full({count, longest}, pad);
  Tensor<std::int32_t> lengths({count});
  for (Index i = 0; i < count; ++i) {
    make_row(i);
    std::copy(row.begin(), row.end(), tokens.data() + i * longest);
    lengths(i) = static_cast<std::int32_t>(row.size());
  }
  return {tokens, ValidLens(lengths)};
}

constexpr TokenId ignored = CrossEntropyOptions{}.ignore_index;

// Throws ShapeError or ValueError, naming `field`, unless it has tokens [examples, time] and
// lengths of 0 … time.
void check_padded(const std::string& field, const PaddedTokens& padded, Index examples) {
  const Shape& shape = padded.tokens.shape();
  if (shape.rank() != 2 || shape[0] != examples)
    fail<ShapeError>("batch: " + field, concatenate_text("tokens [", examples, ", time]"),
                     concatenate_text("shape ", shape));
  if (!padded.valid_lens.given()) return;
  const Tensor<std::int32_t>& lengths = padded.valid_lens.lengths();
  const std::string what = "batch: " + field + ".valid_lens";
  if (lengths.shape() != Shape{examples})
    fail<ShapeError>(what, concatenate_text("shape ", Shape{examples}), lengths.shape());
  for (const std::int32_t length : lengths)
    if (length < 0 || length > shape[1])
      fail<ValueError>(what, concatenate_text("lengths of 0 … ", shape[1]), length);
}

// Rows first … last, padded to the longest of them.
PaddedTokens rows_of(const PaddedTokens& padded, Index first, Index last) {
  const Index width = padded.tokens.shape()[1];
  return pad_rows(last - first, Vocabulary::pad, [&](std::size_t i, Sequence& row) {
    const Index index = first + static_cast<Index>(i);
    const TokenId* from = padded.tokens.data() + index * width;
    row.assign(from, from + padded.valid_lens.length(index, 0, width));
  });
}

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

PaddedTokens pad_sequences(std::span<const Sequence> sequences, TokenId pad) {
  if (sequences.empty()) fail<ValueError>("padding", "at least one sequence", "none");
  return pad_rows(static_cast<Index>(sequences.size()), pad,
                  [&](std::size_t i, Sequence& row) { row = sequences[i]; });
}

Index num_examples(const Batch& batch) {
  const Shape& source = batch.source.tokens.shape();
  if (source.rank() != 2)
    fail<ShapeError>("batch: source", "tokens [batch, time], with time 0 for none",
                     concatenate_text("shape ", source));
  const Index examples = source[0];
  check_padded("source", batch.source, examples);
  check_padded("target", batch.target, examples);
  const Shape& labels = batch.labels.shape();
  if (labels.rank() == 0 || labels[0] != examples)
    fail<ShapeError>("batch: labels", concatenate_text("shape [", examples, ", …]"), labels);
  if (!batch.examples.empty() && std::ssize(batch.examples) != examples)
    fail<ShapeError>("batch: examples", concatenate_text(examples, " indices or none"),
                     batch.examples.size());
  return examples;
}

Batch part_of(const Batch& batch, Index first, Index last) {
  const Index examples = num_examples(batch);
  if (!(0 <= first && first <= last && last <= examples))
    fail<ValueError>("part of a batch", concatenate_text("0 ≤ first ≤ last ≤ ", examples),
                     concatenate_text("first ", first, " and last ", last));
  Batch part;
  part.source = rows_of(batch.source, first, last);
  part.target = rows_of(batch.target, first, last);
  const bool has_targets_shape = batch.labels.shape() == batch.target.tokens.shape();
  part.labels =
      rows_of(batch.labels, first, last,
              has_targets_shape ? std::optional(part.target.tokens.shape()[1]) : std::nullopt);
  part.num_labels = std::ranges::count_if(std::as_const(part.labels),
                                          [](TokenId label) { return label != ignored; });
  part.divisor = batch.divisor;
  if (!batch.examples.empty())
    part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  return part;
}

BatchSampler::BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options)
    : options_(options), lengths_(std::move(lengths)) {
  check_positive("batches: examples", static_cast<Index>(lengths_.size()));
  check_positive("batches: batch_size", options.batch_size);
  check_positive("batches: bucket_batches", options.bucket_batches);
  // So that sums and products of it do not overflow.
  options_.batch_size = std::min(options.batch_size, static_cast<Index>(lengths_.size()));
}

Index BatchSampler::num_batches() const {
  return (static_cast<Index>(lengths_.size()) + options_.batch_size - 1) / options_.batch_size;
}

std::span<const Index> BatchSampler::batch(std::int64_t epoch, Index position) {
  if (epoch < 0 || position < 0 || position >= num_batches())
    fail<ValueError>("batch", concatenate_text("an epoch ≥ 0 and a position below ", num_batches()),
                     concatenate_text("epoch ", epoch, ", position ", position));
  if (epoch != ordered_epoch_) order_epoch(epoch);
  const auto start = static_cast<std::size_t>(starts_[static_cast<std::size_t>(position)]);
  const auto size = static_cast<std::size_t>(options_.batch_size);
  return std::span(order_).subspan(start, std::min(size, order_.size() - start));
}

void BatchSampler::order_epoch(std::int64_t epoch) {
  Random random = epoch_random(options_.seed, epoch);
  order_.resize(lengths_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  if (options_.shuffle) random.shuffle(order_);

  const auto count = static_cast<Index>(order_.size());
  const Index bucket = options_.batch_size * std::min(options_.bucket_batches, num_batches());
  for (Index begin = 0; begin < count; begin += bucket)
    std::stable_sort(order_.begin() + begin, order_.begin() + std::min(count, begin + bucket),
                     [&](Index a, Index b) {
                       return lengths_[static_cast<std::size_t>(a)] <
                              lengths_[static_cast<std::size_t>(b)];
                     });

  starts_.clear();
  for (Index start = 0; start < count; start += options_.batch_size) starts_.push_back(start);
  if (options_.shuffle) random.shuffle(starts_);
  ordered_epoch_ = epoch;
}

PairBatches::PairBatches(std::vector<SequencePair> pairs, const BatchOptions& options)
    : pairs_(checked_sources(std::move(pairs))),
      sampler_(lengths_of(pairs_), options),
      fingerprint_(fingerprint_of(pairs_, options)) {}

PairBatches::PairBatches(std::vector<Sequence> targets, const BatchOptions& options)
    : pairs_(pairs_without_sources(std::move(targets))),
      sampler_(lengths_of(pairs_), options),
      fingerprint_(fingerprint_of(pairs_, options)) {}

Batch PairBatches::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> examples = sampler_.batch(epoch, position);
  const auto count = static_cast<Index>(examples.size());
  const auto pair = [&](std::size_t i) -> const SequencePair& {
    return pairs_[static_cast<std::size_t>(examples[i])];
  };
  Batch batch;
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
  batch.divisor = static_cast<double>(batch.num_labels);
  batch.examples.assign(examples.begin(), examples.end());
  return batch;
}

}  // namespace weft
