#include "weft/train/data/features.hpp"

#include <algorithm>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/train/data/padding.hpp"
#include "weft/train/data/tensor_batch.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {
namespace {

std::vector<ExampleLengths> checked_lengths(const std::vector<LabelledFeatures>& examples) {
  std::vector<ExampleLengths> lengths;
  for (const auto& [features, labels] : examples) {
    const Shape &shape = features.shape(), &first = examples.front().features.shape();
    if (shape.rank() != 2 || shape[0] == 0 || shape[1] != first[1])
      fail<ShapeError>(
          str_cat("features of example ", lengths.size()),
          str_cat("[time > 0, ", first.rank() == 2 ? str_cat(first[1]) : "features", "]"), shape);
    lengths.push_back({.source = shape[0], .target = std::ssize(labels)});
  }
  return lengths;
}

}  // namespace

Index num_examples(const FeatureBatch& batch) {
  const auto rows = [](const auto& tensor) { return tensor.rank() == 0 ? -1 : tensor.shape()[0]; };
  const Index examples = rows(batch.labels);
  if (rows(batch.features) != examples || rows(batch.valid_lens.lengths()) != examples ||
      rows(batch.label_lens.lengths()) != examples || examples < 0 ||
      (!batch.examples.empty() && std::ssize(batch.examples) != examples))
    fail<ShapeError>("batch", "fields [batch, …] of the same batch size",
                     str_cat("features ", batch.features.shape(), ", valid_lens ",
                             batch.valid_lens.lengths().shape(), ", labels ", batch.labels.shape(),
                             ", label_lens ", batch.label_lens.lengths().shape(), ", ",
                             batch.examples.size(), " examples"));
  return examples;
}

Index num_positions(const FeatureBatch& batch) {
  return batch.features.rank() == 3 ? batch.features.shape()[0] * batch.features.shape()[1] : 0;
}

FeatureBatch part_of(const FeatureBatch& batch, Index first, Index last) {
  num_examples(batch);
  const auto part_of_lens = [&](const ValidLens& lens) {
    return ValidLens(rows_of(lens.lengths(), first, last));
  };
  FeatureBatch part{.features = rows_of(batch.features, first, last),
                    .valid_lens = part_of_lens(batch.valid_lens),
                    .labels = rows_of(batch.labels, first, last),
                    .label_lens = part_of_lens(batch.label_lens)};
  if (!batch.examples.empty())
    part.examples.assign(batch.examples.begin() + first, batch.examples.begin() + last);
  return part;
}

FeatureBatches::FeatureBatches(std::vector<LabelledFeatures> examples, const BatchOptions& options)
    : examples_(std::move(examples)),
      sampler_(checked_lengths(examples_), options),
      has_one_label_(std::ranges::all_of(
          examples_, [](const LabelledFeatures& example) { return example.labels.size() == 1; })) {
  Fingerprint fingerprint(options);
  for (const auto& [features, labels] : examples_) {
    fingerprint.add(features);
    fingerprint.add(labels);
  }
  fingerprint_ = fingerprint.value();
}

FeatureBatch FeatureBatches::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> examples = sampler_.batch(epoch, position);
  std::vector<std::int32_t> lengths;
  std::vector<TokenIds> labels;
  const auto features_of = [&](Index example) -> const Tensor<float>& {
    return examples_[static_cast<std::size_t>(example)].features;
  };
  for (const Index example : examples) {
    lengths.push_back(static_cast<std::int32_t>(features_of(example).shape()[0]));
    labels.push_back(examples_[static_cast<std::size_t>(example)].labels);
  }
  const Index count = std::ssize(examples), longest = std::ranges::max(lengths);
  const Index size = features_of(0).shape()[1];
  const PaddedTokens padded = pad_sequences(labels, CrossEntropyOptions{}.ignore_index);
  FeatureBatch batch{.features = Tensor<float>({count, longest, size}),
                     .valid_lens = ValidLens(lengths),
                     .labels = has_one_label_ ? padded.tokens.reshaped({count}) : padded.tokens,
                     .label_lens = padded.valid_lens,
                     .examples = {examples.begin(), examples.end()}};
  float* row = batch.features.data();
  for (const Index example : examples) {
    std::ranges::copy(features_of(example), row);
    row += longest * size;
  }
  return batch;
}

}  // namespace weft
