#include <algorithm>
#include <limits>
#include <numeric>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/data/pairs.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

std::vector<SequencePair> random_pairs(Index count) {
  Random random(3);
  std::vector<SequencePair> pairs(static_cast<std::size_t>(count));
  for (auto& [source, target] : pairs) {
    source.assign(static_cast<std::size_t>(1 + random.below(9)), 4);
    target.assign(static_cast<std::size_t>(random.below(9)), 5);
  }
  return pairs;
}

// The examples of each batch of an epoch.
std::vector<std::vector<Index>> epoch_of(DataSource<PairBatch>& batches, std::int64_t epoch) {
  std::vector<std::vector<Index>> examples;
  for (Index position = 0; position < batches.num_batches(); ++position)
    examples.push_back(batches.batch(epoch, position).examples);
  return examples;
}

std::vector<TokenId> values(const Tokens& tokens) { return {tokens.begin(), tokens.end()}; }

}  // namespace

TEST_CASE("padding: short sequences are padded at their end", "[train]") {
  const PaddedTokens padded = pad_sequences(std::vector<TokenIds>{{7}, {}, {8, 9}});
  CHECK(padded.tokens.shape() == Shape{3, 2});
  CHECK(values(padded.tokens) == std::vector<TokenId>{7, 0, 0, 0, 8, 9});
  CHECK(values(padded.valid_lens.lengths()) == std::vector<TokenId>{1, 0, 2});
  CHECK_THROWS_AS(pad_sequences({}), ValueError);
}

TEST_CASE("batches: encoder input, decoder input and labels", "[train]") {
  PairBatches batches(std::vector<SequencePair>{{{10, 11}, {20}}, {{12}, {21, 22, 23}}},
                      {.batch_size = 2, .shuffle = false});
  const PairBatch batch = batches.batch(0, 0);
  CHECK(batch.examples == std::vector<Index>{1, 0});
  CHECK(values(batch.source.tokens) == std::vector<TokenId>{12, 0, 10, 11});
  CHECK(values(batch.source.valid_lens.lengths()) == std::vector<TokenId>{1, 2});
  CHECK(batch.target.tokens.shape() == Shape{2, 4});
  CHECK(values(batch.target.tokens) ==
        std::vector<TokenId>{Vocabulary::bos, 21, 22, 23, Vocabulary::bos, 20, 0, 0});
  CHECK(values(batch.target.valid_lens.lengths()) == std::vector<TokenId>{4, 2});
  const TokenId ignored = CrossEntropyOptions{}.ignore_index;
  CHECK(values(batch.labels) ==
        std::vector<TokenId>{21, 22, 23, Vocabulary::eos, 20, Vocabulary::eos, ignored, ignored});
  CHECK(batch.num_labels == 6);
}

TEST_CASE("batches: with targets only, sources are empty", "[train]") {
  PairBatches batches(std::vector<TokenIds>{{20, 21}, {22}}, {.batch_size = 2, .shuffle = false});
  const PairBatch batch = batches.batch(0, 0);
  CHECK(batch.examples == std::vector<Index>{1, 0});
  CHECK(batch.source.tokens.shape() == Shape{2, 0});
  CHECK(values(batch.target.tokens) ==
        std::vector<TokenId>{Vocabulary::bos, 22, 0, Vocabulary::bos, 20, 21});
}

TEST_CASE("batches: every example exactly once in every epoch", "[train]") {
  PairBatches batches(random_pairs(103), {.batch_size = 8, .seed = 5, .bucket_batches = 3});
  REQUIRE(batches.num_batches() == 13);
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<int> seen(103, 0);
    for (const auto& batch : epoch_of(batches, epoch)) {
      CHECK(batch.size() <= 8);
      for (Index example : batch) ++seen[static_cast<std::size_t>(example)];
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == 103);
  }
}

TEST_CASE("batches: the order depends only on seed and epoch", "[train]") {
  const auto pairs = random_pairs(60);
  PairBatches batches(pairs, {.batch_size = 4, .seed = 5});
  const auto first = epoch_of(batches, 0), second = epoch_of(batches, 1);
  CHECK(first != second);
  CHECK(epoch_of(batches, 0) == first);

  PairBatches again(pairs, {.batch_size = 4, .seed = 5});
  CHECK(again.batch(1, 7).examples == second[7]);
  PairBatches other(pairs, {.batch_size = 4, .seed = 6});
  CHECK(epoch_of(other, 0) != first);
  PairBatches unshuffled(pairs, {.batch_size = 4, .seed = 5, .shuffle = false});
  CHECK(epoch_of(unshuffled, 0) == epoch_of(unshuffled, 1));
}

TEST_CASE("batches: examples of similar length are batched together", "[train]") {
  const auto pairs = random_pairs(200);
  PairBatches batches(pairs, {.batch_size = 10, .seed = 1, .bucket_batches = 20});
  Index padding = 0, tokens = 0;
  for (Index position = 0; position < batches.num_batches(); ++position) {
    const PairBatch batch = batches.batch(0, position);
    for (Index length : batch.source.valid_lens.lengths()) tokens += length;
    padding += batch.source.tokens.size();
  }
  padding -= tokens;
  CHECK(padding < tokens / 10);
}

TEST_CASE("batches: each bucket is sorted by length", "[train]") {
  const auto pairs = random_pairs(60);
  PairBatches batches(pairs, {.batch_size = 4, .shuffle = false, .bucket_batches = 3});
  const auto lengths = [&](Index example) {
    const auto& [source, target] = pairs[static_cast<std::size_t>(example)];
    return std::pair(source.size(), target.size());
  };
  std::vector<Index> order;
  for (const auto& batch : epoch_of(batches, 0))
    order.insert(order.end(), batch.begin(), batch.end());
  std::vector<Index> expected(60);
  std::iota(expected.begin(), expected.end(), Index{0});
  for (auto bucket = expected.begin(); bucket != expected.end(); bucket += 12)
    std::stable_sort(bucket, bucket + 12,
                     [&](Index a, Index b) { return lengths(a) < lengths(b); });
  CHECK(order == expected);
}

TEST_CASE("batches: the fingerprint changes with the data and with their order", "[train]") {
  const auto pairs = random_pairs(20);
  const auto fingerprint = [&](const BatchOptions& options) {
    return PairBatches(pairs, options).fingerprint();
  };
  const std::uint64_t original = fingerprint({.batch_size = 4, .seed = 1});
  CHECK(fingerprint({.batch_size = 4, .seed = 1}) == original);
  CHECK(fingerprint({.batch_size = 5, .seed = 1}) != original);
  CHECK(fingerprint({.batch_size = 4, .seed = 2}) != original);
  CHECK(fingerprint({.batch_size = 4, .seed = 1, .shuffle = false}) != original);
  CHECK(fingerprint({.batch_size = 4, .seed = 1, .bucket_batches = 3}) != original);
  const auto changed = [&](const auto& change) {
    auto others = pairs;
    change(others);
    return PairBatches(others, {.batch_size = 4, .seed = 1}).fingerprint();
  };
  CHECK(changed([](auto& others) { ++others[7].source[0]; }) != original);
  CHECK(changed([](auto& others) { others[7].target.push_back(4); }) != original);
  CHECK(changed([](auto& others) { others.pop_back(); }) != original);
  const auto divided = [](const SequencePair& pair) {
    return PairBatches(std::vector{pair}).fingerprint();
  };
  CHECK(divided({{4, 5}, {6}}) != divided({{4}, {5, 6}}));
}

TEST_CASE("batches: a batch size and buckets beyond the data give one batch of all examples",
          "[train]") {
  constexpr Index largest = std::numeric_limits<Index>::max();
  for (const Index batch_size : {Index{5}, Index{6}, largest / 2, largest - 1, largest})
    for (const Index bucket_batches : {Index{1}, largest}) {
      PairBatches batches(random_pairs(5),
                          {.batch_size = batch_size, .bucket_batches = bucket_batches});
      REQUIRE(batches.num_batches() == 1);
      CHECK(batches.batch(0, 0).examples.size() == 5);
      CHECK(batches.batch(1, 0).examples.size() == 5);
    }
  PairBatches small(random_pairs(5), {.batch_size = 2, .bucket_batches = largest});
  CHECK(small.num_batches() == 3);
  CHECK(small.batch(0, 0).examples.size() + small.batch(0, 1).examples.size() +
            small.batch(0, 2).examples.size() ==
        5);
}

TEST_CASE("batches: invalid examples and options throw", "[train]") {
  CHECK_THROWS_WITH(PairBatches(std::vector<SequencePair>{}),
                    "batches: examples: expected a number > 0, got 0");
  CHECK_THROWS_AS(PairBatches(random_pairs(3), {.batch_size = 0}), ValueError);
  CHECK_THROWS_AS(PairBatches(random_pairs(3), {.bucket_batches = 0}), ValueError);
  CHECK_THROWS_WITH(
      PairBatches(std::vector<SequencePair>{{{1}, {}}, {{}, {1}}}),
      "pairs: expected a source of at least one token, got an empty source in pair 1");
  PairBatch negative;
  negative.num_labels = -1;
  CHECK_THROWS_AS(num_labels(negative), ValueError);
  PairBatches batches(random_pairs(3), {.batch_size = 2});
  CHECK_THROWS_WITH(batches.batch(0, 2),
                    "batch: expected an epoch ≥ 0 and a position below 2, got epoch 0, position 2");
  CHECK_THROWS_AS(batches.batch(-1, 0), ValueError);
}
