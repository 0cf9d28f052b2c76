#include <numeric>

#include <weft/autograd/error.hpp>
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
  CHECK(TensorBatches<float>(ones, ones.reshaped({4, 1, 1})).fingerprint() != fingerprint);
}

TEST_CASE("tensor batches: different numbers of inputs and targets are refused", "[train]") {
  CHECK(message_of<ShapeError>([] {
          TensorBatches<float>(Tensor<float>({3, 2}), Tensor<float>({2, 2}));
        }) ==
        "batch: expected inputs and targets [batch, …] of the same batch size, got [3, 2] and [2, "
        "2]");
  CHECK_THROWS_AS(TensorBatches<float>(Tensor<float>(Shape{}), Tensor<float>(Shape{})), ShapeError);
  CHECK_THROWS_AS(TensorBatches<float>(Tensor<float>({0, 2}), Tensor<float>({0, 2})), ValueError);
  const TensorBatch<float> batch{Tensor<float>({3}), Tensor<float>({3})};
  CHECK_THROWS_AS(part_of(batch, 2, 4), ValueError);
  CHECK_THROWS_AS(part_of(batch, 2, 1), ValueError);
}
