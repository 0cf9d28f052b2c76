#include "weft/train/data/packed.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/cross_entropy.hpp"
#include "weft/train/data/tensor_batch.hpp"
#include "train/data/internal/fingerprint.hpp"

namespace weft {
namespace {

const TokenId ignored = CrossEntropyOptions{}.ignore_index;

BatchOptions batch_options(const PackedOptions& options) {
  return {.batch_size = options.batch_size,
          .seed = options.seed,
          .shuffle = options.shuffle,
          .drop_last = options.drop_last};
}

// Returns the number of positions that an example takes: each token except the last is an input.
Index length_of(const LearnedText& text) { return std::ssize(text.tokens) - 1; }

const std::vector<LearnedText>& checked(const std::vector<LearnedText>& texts,
                                        const PackedOptions& options) {
  if (options.length <= 0)
    fail<ValueError>("PackedBatches: length", "a number > 0", options.length);
  if (texts.empty()) fail<ValueError>("PackedBatches: texts", "at least one", "none");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& [tokens, learned] = texts[i];
    const std::string what = str_cat("PackedBatches: text ", i + 1);
    if (learned.size() != tokens.size())
      fail<ValueError>(what, "a value of `learned` for each token",
                       str_cat(learned.size(), " for ", tokens.size(), " tokens"));
    if (tokens.size() < 2 || length_of(texts[i]) > options.length)
      fail<ValueError>(what,
                       str_cat("2 to ", static_cast<std::uint64_t>(options.length) + 1, " tokens"),
                       tokens.size());
    if (std::find(learned.begin() + 1, learned.end(), true) == learned.end())
      fail<ValueError>(what, "at least one learned token after the first token", "none");
  }
  return texts;
}

// Returns the examples in each row: the longest first, each in the first row that has space for it.
std::vector<std::vector<std::size_t>> packed(const std::vector<LearnedText>& texts, Index length) {
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return length_of(texts[i]); });
  std::vector<std::vector<std::size_t>> rows;
  std::vector<Index> room;
  std::size_t first_open = 0;
  Index shortest = length;
  for (const LearnedText& text : texts) shortest = std::min(shortest, length_of(text));
  for (const std::size_t i : order) {
    const Index needed = length_of(texts[i]);
    while (first_open < room.size() && room[first_open] < shortest) ++first_open;
    std::size_t row = first_open;
    while (row < room.size() && room[row] < needed) ++row;
    if (row == room.size()) {
      rows.emplace_back();
      room.push_back(length);
    }
    rows[row].push_back(i);
    room[row] -= needed;
  }
  return rows;
}

}  // namespace

Index num_labels(const PackedBatch& batch) { return num_counted(batch.targets); }

PackedBatch part_of(const PackedBatch& batch, Index first, Index last) {
  return {rows_of(batch.inputs, first, last),
          rows_of(batch.targets, first, last),
          {.causal = batch.mask.causal,
           .allowed = rows_of(batch.mask.allowed, first, last),
           .positions = batch.mask.positions.empty() ? Tokens()
                                                     : rows_of(batch.mask.positions, first, last)}};
}

PackedBatches::PackedBatches(std::vector<LearnedText> texts, const PackedOptions& options)
    : texts_(std::move(texts)),
      rows_(packed(checked(texts_, options), options.length)),
      options_(options),
      sampler_(std::vector<ExampleLengths>(rows_.size()), batch_options(options)),
      fingerprint_([this] {
        Fingerprint fingerprint(options_.length, batch_options(options_));
        for (const auto& [tokens, learned] : texts_) {
          fingerprint.add(tokens);
          fingerprint.add(std::vector<TokenId>(learned.begin(), learned.end()));
        }
        return fingerprint.value();
      }()) {}

PackedBatch PackedBatches::batch(std::int64_t epoch, Index position) {
  const std::span<const Index> rows = sampler_.batch(epoch, position);
  const Index count = std::ssize(rows), length = options_.length;
  PackedBatch batch{Tokens({count, length}),
                    Tokens({count, length}),
                    {.causal = true,
                     .allowed = Tensor<bool>({count, length, length}),
                     .positions = Tokens({count, length})}};
  std::ranges::fill(batch.targets.values(), ignored);
  for (Index row = 0; row < count; ++row) {
    Index at = 0;
    for (const std::size_t index :
         rows_[static_cast<std::size_t>(rows[static_cast<std::size_t>(row)])]) {
      const auto& [tokens, learned] = texts_[index];
      const Index size = length_of(texts_[index]);
      for (Index i = 0; i < size; ++i) {
        const auto token = static_cast<std::size_t>(i);
        batch.inputs(row, at + i) = tokens[token];
        batch.mask.positions(row, at + i) = static_cast<TokenId>(i);
        if (learned[token + 1]) batch.targets(row, at + i) = tokens[token + 1];
        bool* const allowed = batch.mask.allowed.data() + (row * length + at + i) * length;
        std::fill(allowed + at, allowed + at + size, true);
      }
      at += size;
    }
  }
  return batch;
}

}  // namespace weft
