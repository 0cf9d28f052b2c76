#include "weft/train/data/batches.hpp"

#include <algorithm>
#include <numeric>

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

}  // namespace

PaddedTokens pad_sequences(std::span<const Sequence> sequences, TokenId pad) {
  if (sequences.empty()) fail<ValueError>("padding", "at least one sequence", "none");
  return pad_rows(static_cast<Index>(sequences.size()), pad,
                  [&](std::size_t i, Sequence& row) { row = sequences[i]; });
}

Batch part_of(const Batch& batch, Index first, Index last) {
  const auto rows_of = [&](const PaddedTokens& padded, TokenId pad, const Tokens& tokens) {
    const Index width = tokens.shape()[1];
    return pad_rows(last - first, pad, [&](std::size_t i, Sequence& row) {
      const Index index = first + static_cast<Index>(i);
      const TokenId* from = tokens.data() + index * width;
      row.assign(from, from + padded.valid_lens.length(index, 0, width));
    });
  };
  Batch part;
  part.source = rows_of(batch.source, Vocabulary::pad, batch.source.tokens);
  part.target = rows_of(batch.target, Vocabulary::pad, batch.target.tokens);
  part.labels = rows_of(batch.target, CrossEntropyOptions{}.ignore_index, batch.labels).tokens;
  part.num_labels = std::ranges::count_if(
      part.labels, [](TokenId label) { return label != CrossEntropyOptions{}.ignore_index; });
  part.divisor = batch.divisor;
  part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  return part;
}

BatchSampler::BatchSampler(std::vector<ExampleLengths> lengths, const BatchOptions& options)
    : options_(options), lengths_(std::move(lengths)) {
  check_positive("batches: examples", static_cast<Index>(lengths_.size()));
  check_positive("batches: batch_size", options.batch_size);
  check_positive("batches: bucket_batches", options.bucket_batches);
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
  const PaddedTokens labels =
      pad_rows(count, CrossEntropyOptions{}.ignore_index, [&](std::size_t i, Sequence& row) {
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
