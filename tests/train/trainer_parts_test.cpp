// How the trainer gets batches and divides them: parts, accumulated batches, changed sources.
#include <atomic>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/dropout.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/layers/linear.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/thread_count_guard.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

// The batches of ToyTraining, changed by a function.
class ChangedBatches final : public DataSource<PairBatch> {
 public:
  ChangedBatches(DataSource<PairBatch>& batches, std::function<void(PairBatch&)> change)
      : batches_(batches), change_(std::move(change)) {}
  Index num_batches() const override { return count.value_or(batches_.num_batches()); }
  PairBatch batch(std::int64_t epoch, Index position) override {
    PairBatch batch = batches_.batch(epoch, position);
    change_(batch);
    return batch;
  }
  std::uint64_t fingerprint() const override { return 0; }

  std::optional<Index> count;

 private:
  DataSource<PairBatch>& batches_;
  std::function<void(PairBatch&)> change_;
};

}  // namespace

TEST_CASE("trainer: accumulated batches give the update of one large batch", "[train]") {
  const auto two_small = [] {
    ToyTraining<double> toy(16, 4);
    Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(0.0),
            {.max_steps = 1, .gradient_accumulation_steps = 4})
        .run();
    return toy.values();
  }();
  const auto one_large = [] {
    ToyTraining<double> toy(16, 16);
    Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(0.0), {.max_steps = 1}).run();
    return toy.values();
  }();
  for (std::size_t i = 0; i < one_large.size(); ++i)
    CHECK(std::abs(two_small[i] - one_large[i]) < 1e-12);
}

TEST_CASE("trainer: the parts of a batch give the update of the whole batch", "[train]") {
  const auto trained_in = [](Index parts) {
    // 22 examples in batches of 7: the last one has fewer examples than parts.
    ToyTraining<double> toy(22, 7);
    Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(0.0),
            {.epochs = 2, .gradient_accumulation_steps = 2, .parts = parts})
        .run();
    return toy.values();
  };
  const auto whole = trained_in(1), in_parts = trained_in(3);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(std::abs(whole[i] - in_parts[i]) < 1e-9);
}

TEST_CASE("trainer: by default, the number of parts depends on the sizes alone", "[train]") {
  // Linear layers of `size` by `size` parameters, and batches of `examples`.
  const auto calls_of_loss = [](Index size, Index examples) {
    Random random(1);
    Linear<float> model({.in_features = size, .out_features = size, .bias = false}, random);
    SGD<float> optimizer(model, {.lr = 0.1});
    TensorBatches<float, float> batches(random.normal_tensor<float>({examples, size}),
                                        random.normal_tensor<float>({examples, size}),
                                        {.batch_size = examples});
    std::atomic<Index> calls = 0;
    Trainer trainer(model, optimizer, batches,
                    [&](Tape<float>& tape, const TensorBatch<float, float>& batch) {
                      ++calls;
                      return mse_loss(model(tape.constant(batch.inputs)),
                                      tape.constant(batch.targets));
                    },
                    {.max_steps = 1});
    trainer.validate_on(batches);
    trainer.run();
    // The step, its validation and the loss on training data.
    CHECK(calls % 3 == 0);
    return calls / 3;
  };
  // With 512² parameters, 32 examples have 2²³ = positions · parameters.
  CHECK(calls_of_loss(512, 63) == 1);
  CHECK(calls_of_loss(512, 64) == 2);
  CHECK(calls_of_loss(512, 127) == 3);
  CHECK(calls_of_loss(512, 1000) == 4);
  // Copies of 3300² and of 3600² parameters: 2 and 1 take no more than 96 MiB.
  CHECK(calls_of_loss(3300, 100) == 2);
  CHECK(calls_of_loss(3600, 32) == 1);
  CHECK(calls_of_loss(1500, 8) == 2);
}

TEST_CASE("trainer: parts chosen by default give the same bits on any number of threads",
          "[train]") {
  const auto trained_in = [](Index parts, int threads) {
    const ThreadCountGuard guard(threads);
    Random random(1);
    Linear<float> model({.in_features = 512, .out_features = 512}, random);
    SGD<float> optimizer(model, {.lr = 0.1});
    TensorBatches<float, float> batches(random.normal_tensor<float>({200, 512}),
                                        random.normal_tensor<float>({200, 512}),
                                        {.batch_size = 100});
    Trainer(model, optimizer, batches,
            [&](Tape<float>& tape, const TensorBatch<float, float>& batch) {
              const Var x = dropout(tape.constant(batch.inputs), 0.1);
              return mse_loss(model(x), tape.constant(batch.targets));
            },
            {.epochs = 2, .parts = parts})
        .run();
    const auto values = model.weight.value().values();
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> alone = trained_in(0, 1);
  for (const int threads : {2, 3, 5}) {
    const bool is_same = trained_in(0, threads) == alone;
    CHECK(is_same);
  }
  const bool has_parts = trained_in(1, 1) != alone;
  CHECK(has_parts);
}

TEST_CASE("trainer: batches whose examples have no indices are split too", "[train]") {
  const auto trained_in = [](Index parts) {
    ToyTraining<double> toy(22, 7);
    ChangedBatches batches(toy.batches, [](PairBatch& batch) { batch.examples.clear(); });
    std::atomic<int> calls = 0;
    Trainer(toy.model, toy.optimizer, batches,
            [&](Tape<double>& tape, const PairBatch& batch) {
              ++calls;
              return toy.loss(tape, batch, 0.0);
            },
            {.max_steps = 2, .parts = parts})
        .run();
    CHECK(calls == 2 * parts);
    return toy.values();
  };
  const auto whole = trained_in(1), in_parts = trained_in(3);
  for (std::size_t i = 0; i < whole.size(); ++i) CHECK(std::abs(whole[i] - in_parts[i]) < 1e-9);
}

TEST_CASE("trainer: parts of batches without a source are refused, naming the field", "[train]") {
  ToyTraining<float> toy;
  ChangedBatches batches(toy.batches, [](PairBatch& batch) { batch.source = {}; });
  const auto run = [&](Index parts) {
    Trainer(toy.model, toy.optimizer, batches, toy.loss_function(),
            {.max_steps = 1, .parts = parts})
        .run();
  };
  run(1);
  CHECK(
      message_of<ShapeError>([&] { run(2); }) ==
      "batch: source: expected tokens [batch, time], or [batch, 0] without sources, got shape [0]");
}

TEST_CASE("trainer: a batch source without batches, or with fewer than before, throws", "[train]") {
  ToyTraining<float> toy;
  ChangedBatches batches(toy.batches, [](PairBatch&) {});
  const auto run = [&] {
    Trainer(toy.model, toy.optimizer, batches, toy.loss_function(),
            {.epochs = 3,
             .should_stop =
                 [&] {
                   if (batches.count == 6) batches.count = 1;
                   return toy.optimizer.steps() > 100;
                 }})
        .run();
  };
  for (const Index count : {Index{0}, Index{-1}, std::numeric_limits<Index>::min()}) {
    batches.count = count;
    CHECK(message_of<ValueError>(run) ==
          str_cat("data source: num_batches: expected a number > 0, got ", count));
    CHECK(toy.optimizer.steps() == 0);
  }
  batches.count = 6;
  CHECK(message_of<ValueError>(run) == "data source: num_batches: expected a number > 1, got 1");
  CHECK(toy.optimizer.steps() == 1);
}
