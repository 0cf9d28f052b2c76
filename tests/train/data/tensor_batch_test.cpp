#include <numeric>

#include <weft/autograd/error.hpp>
#include <weft/train/data/labelled.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("tensor batches: rows of inputs with their targets, each once an epoch", "[train]") {
  Tensor<float> inputs({7, 2});
  std::iota(inputs.begin(), inputs.end(), 0.0f);
  Tokens targets({7});
  std::iota(targets.begin(), targets.end(), TokenId{0});
  TensorBatches<float, TokenId> batches(inputs, targets, {.batch_size = 3, .seed = 2});
  REQUIRE(batches.num_batches() == 3);
  std::vector<int> seen(7, 0);
  for (Index position = 0; position < 3; ++position) {
    const auto batch = batches.batch(0, position);
    REQUIRE(batch.inputs.shape() == Shape{num_examples(batch), 2});
    for (Index i = 0; i < num_examples(batch); ++i) {
      ++seen[static_cast<std::size_t>(batch.targets(i))];
      CHECK(batch.inputs(i, 1) == static_cast<float>(2 * batch.targets(i) + 1));
    }
    const auto part = part_of(batch, 0, 1);
    CHECK(part.inputs(0, 1) == batch.inputs(0, 1));
    CHECK(num_labels(part) == 1);
  }
  CHECK(seen == std::vector<int>(7, 1));
}

TEST_CASE("tensor batches: the fingerprint changes with the data", "[train]") {
  const Tensor<float> ones = Tensor<float>::full({4, 1}, 1.0f);
  Tensor<float> other = ones;
  other(3, 0) = 2.0f;
  const std::uint64_t fingerprint = TensorBatches<float>(ones, ones).fingerprint();
  CHECK(TensorBatches<float>(ones, ones).fingerprint() == fingerprint);
  CHECK(TensorBatches<float>(ones, other).fingerprint() != fingerprint);
  CHECK(TensorBatches<float>(other, ones).fingerprint() != fingerprint);
  CHECK(TensorBatches<float>(ones, ones, {.batch_size = 2}).fingerprint() != fingerprint);
}

TEST_CASE("tensor batches: different numbers of inputs and targets are refused", "[train]") {
  CHECK(message_of<ShapeError>([] {
          TensorBatches<float>(Tensor<float>({3, 2}), Tensor<float>({2, 2}));
        }) == "batch: expected as many targets as inputs, [batch, …], got [3, 2] and [2, 2]");
  CHECK_THROWS_AS(TensorBatches<float>(Tensor<float>(Shape{}), Tensor<float>(Shape{})), ShapeError);
  CHECK_THROWS_AS(TensorBatches<float>(Tensor<float>({0, 2}), Tensor<float>({0, 2})), ValueError);
  const TensorBatch<float> batch{Tensor<float>({3}), Tensor<float>({3})};
  CHECK_THROWS_AS(part_of(batch, 2, 4), ValueError);
  CHECK_THROWS_AS(part_of(batch, 2, 1), ValueError);
}

TEST_CASE("labelled batches: padded sequences with their labels", "[train]") {
  LabelledBatches batches({{{5, 6, 7}, 1}, {{4}, 0}, {{8, 9}, 2}},
                          {.batch_size = 3, .shuffle = false});
  const LabelledBatch batch = batches.batch(0, 0);
  REQUIRE(num_examples(batch) == 3);
  CHECK(batch.sequences.tokens.shape() == Shape{3, 3});
  CHECK(batch.examples == std::vector<Index>{1, 2, 0});  // by length
  CHECK(batch.labels(0) == 0);
  CHECK(batch.labels(2) == 1);
  CHECK(batch.sequences.tokens(1, 1) == 9);
  CHECK(batch.sequences.tokens(0, 1) == Vocabulary::pad);
  CHECK(batch.sequences.valid_lens.lengths()(1) == 2);
  const LabelledBatch part = part_of(batch, 0, 2);
  CHECK(part.sequences.tokens.shape() == Shape{2, 2});
  CHECK(part.labels(1) == 2);
  CHECK(part.examples == std::vector<Index>{1, 2});
}

TEST_CASE("labelled batches: empty sequences and contradictions are refused", "[train]") {
  CHECK(message_of<ValueError>([] {
          LabelledBatches({{{5}, 1}, {{}, 0}});
        }) == "labelled sequences: expected at least one token each, got none in sequence 1");
  CHECK_THROWS_AS(LabelledBatches({}), ValueError);
  LabelledBatch batch = LabelledBatches({{{5}, 1}, {{6}, 0}}).batch(0, 0);
  batch.labels = Tokens({3});
  CHECK_THROWS_AS(num_examples(batch), ShapeError);
}
