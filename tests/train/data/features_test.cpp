#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/ctc_loss.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/layers.hpp>
#include <weft/train/data/features.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// A sequence of `time` vectors of two features: first, first + 1, …
LabelledFeatures counting(Index time, float first, TokenIds labels) {
  Tensor<float> features({time, 2});
  for (float& value : features) value = first++;
  return {features, std::move(labels)};
}

std::vector<float> values_of(const Tensor<float>& tensor) { return {tensor.begin(), tensor.end()}; }

}  // namespace

TEST_CASE("feature batches: sequences are padded with zeros, with lengths and classes", "[train]") {
  FeatureBatches batches({counting(3, 1, {2}), counting(1, 10, {0}), counting(2, 20, {1})},
                         {.batch_size = 3, .shuffle = false});
  const FeatureBatch batch = batches.batch(0, 0);
  CHECK(batch.examples == std::vector<Index>{1, 2, 0});  // by length
  CHECK(batch.features.shape() == Shape{3, 3, 2});
  CHECK(values_of(batch.features) == std::vector<float>{10, 11, 0, 0, 0, 0,  //
                                                        20, 21, 22, 23, 0, 0, 1, 2, 3, 4, 5, 6});
  CHECK(batch.valid_lens.lengths()(0) == 1);
  CHECK(batch.valid_lens.lengths()(2) == 3);
  REQUIRE(batch.labels.shape() == Shape{3});
  CHECK(batch.labels(0) == 0);
  CHECK(batch.labels(2) == 2);
  CHECK(labels_of(batch) == 3);
  CHECK(positions_of(batch) == 9);

  const FeatureBatch part = part_of(batch, 1, 3);
  CHECK(part.features.shape() == Shape{2, 3, 2});
  CHECK(part.features(0, 0, 0) == 20);
  CHECK(part.valid_lens.lengths()(0) == 2);
  CHECK(part.labels(0) == 1);
  CHECK(part.label_lens.lengths()(1) == 1);
  CHECK(part.examples == std::vector<Index>{2, 0});
}

TEST_CASE("feature batches: transcripts of different lengths have lengths too", "[train]") {
  FeatureBatches batches({counting(3, 1, {2, 3}), counting(4, 5, {}), counting(9, 6, {1})},
                         {.batch_size = 2, .shuffle = false});
  const FeatureBatch batch = batches.batch(0, 0);
  REQUIRE(batch.labels.shape() == Shape{2, 2});
  CHECK(batch.labels(0, 1) == 3);
  CHECK(batch.labels(1, 0) == -100);
  CHECK(batch.label_lens.lengths()(0) == 2);
  CHECK(batch.label_lens.lengths()(1) == 0);
  // One label in this batch, but not in all examples.
  CHECK(batches.batch(0, 1).labels.shape() == Shape{1, 1});
}

TEST_CASE("feature batches: what does not fit is refused, and differences are detected",
          "[train]") {
  const auto message = [](const Tensor<float>& second) {
    return message_of<ShapeError>([&] { FeatureBatches({counting(3, 1, {2}), {second, {}}}); });
  };
  const std::string expected = "features of example 1: expected [time > 0, 2], got ";
  CHECK(message(Tensor<float>({3, 1})) == expected + "[3, 1]");
  CHECK(message(Tensor<float>({0, 2})) == expected + "[0, 2]");
  CHECK(message(Tensor<float>({6})) == expected + "[6]");
  CHECK(message_of<ShapeError>([] {
          FeatureBatches({{Tensor<float>({6}), {}}});
        }) == "features of example 0: expected [time > 0, features], got [6]");
  CHECK_THROWS_AS(FeatureBatches({}), ValueError);

  FeatureBatches batches({counting(3, 1, {2}), counting(1, 10, {0})});
  CHECK(batches.fingerprint() !=
        FeatureBatches({counting(3, 1, {2}), counting(1, 10, {1})}).fingerprint());
  CHECK(batches.fingerprint() !=
        FeatureBatches({counting(3, 2, {2}), counting(1, 10, {0})}).fingerprint());
  FeatureBatch batch = batches.batch(0, 0);
  batch.valid_lens = {1};
  CHECK(
      contains(message_of<ShapeError>([&] { num_examples(batch); }),
               "batch: expected fields [batch, …] of the same batch size, got features [2, 3, 2], "
               "valid_lens [1], labels [2]"));
}

TEST_CASE("feature batches: CTC learns transcripts, in any number of parts", "[train]") {
  // Each label is a vector, repeated once or twice.
  std::vector<LabelledFeatures> examples;
  Random random(3);
  for (int i = 0; i < 24; ++i) {
    TokenIds labels;
    std::vector<float> values;
    for (Index left = 1 + random.below(4); left > 0; --left) {
      labels.push_back(static_cast<TokenId>(1 + random.below(3)));
      for (Index copies = 1 + random.below(2); copies > 0; --copies)
        for (int feature = 1; feature <= 4; ++feature)
          values.push_back(feature == labels.back() ? 1.0f : 0.0f);
      values.insert(values.end(), {0, 0, 0, 1});  // between labels
    }
    const Index time = std::ssize(values) / 4;
    examples.push_back({Tensor<float>({time, 4}, values), labels});
  }
  std::vector<double> losses;
  for (const Index parts : {1, 3}) {
    FeatureBatches batches(examples, {.batch_size = 8});
    Random weights(5);
    Linear<float> model({.in_features = 4, .out_features = 4}, weights);
    AdamW<float> optimizer(model, {.lr = 0.1});
    const auto loss = [&](Tape<float>& tape, const FeatureBatch& batch) {
      return ctc_loss(log_softmax(model(tape.constant(batch.features))), batch.labels,
                      batch.valid_lens, batch.label_lens);
    };
    Trainer trainer(model, optimizer, batches, loss, {.epochs = 60, .parts = parts});
    trainer.run();
    losses.push_back(mean_loss<float, FeatureBatch>(batches, loss));
  }
  CHECK(losses[0] < 0.3);
  CHECK(losses[1] == Approx(losses[0]).epsilon(1e-3));
}
