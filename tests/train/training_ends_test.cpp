// The last steps of a training: what counts in them, and what their validation reads.
#include <csignal>
#include <memory>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

// The positions of the batches that are read.
class WatchedBatches final : public DataSource<PairBatch> {
 public:
  explicit WatchedBatches(DataSource<PairBatch>& batches) : batches_(batches) {}
  Index num_batches() const override { return batches_.num_batches(); }
  PairBatch batch(std::int64_t epoch, Index position) override {
    positions.push_back(position);
    return batches_.batch(epoch, position);
  }
  std::uint64_t fingerprint() const override { return batches_.fingerprint(); }

  std::vector<Index> positions;

 private:
  DataSource<PairBatch>& batches_;
};

// Batches all of whose labels are ignored.
class WithoutLabels final : public DataSource<PairBatch> {
 public:
  explicit WithoutLabels(DataSource<PairBatch>& batches) : batches_(batches) {}
  Index num_batches() const override { return batches_.num_batches(); }
  PairBatch batch(std::int64_t epoch, Index position) override {
    PairBatch batch = batches_.batch(epoch, position);
    batch.labels.fill(CrossEntropyOptions{}.ignore_index);
    batch.num_labels = 0;
    return batch;
  }
  std::uint64_t fingerprint() const override { return batches_.fingerprint(); }

 private:
  DataSource<PairBatch>& batches_;
};

}  // namespace

TEST_CASE("trainer: batches without labels are no error, but have no mean loss", "[train]") {
  ToyTraining<float> toy;
  WithoutLabels batches(toy.batches);
  Trainer trainer(toy.model, toy.optimizer, batches, toy.loss_function(), {.epochs = 1});
  trainer.validate_with({.columns = {"val_loss"}, .run = [] { return std::vector{1.0}; }});
  CHECK(trainer.run().steps == 6);
  CHECK(message_of<ValueError>([&] { (void)mean_loss(batches, toy.loss_function()); }) ==
        "mean over batches: expected at least one label, got none");
}

TEST_CASE("trainer: a validation gives a value for each column", "[train]") {
  for (const std::size_t values : {1u, 3u}) {
    ToyTraining<float> toy;
    Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.epochs = 1});
    trainer.validate_with(
        {.columns = {"a", "b"}, .run = [values] { return std::vector<double>(values); }});
    CHECK(message_of<ValueError>([&] { trainer.run(); }) ==
          str_cat("validation: expected 2 values, got ", values));
  }
}

TEST_CASE("trainer: a signal in the last step changes neither the end nor the exit status",
          "[train]") {
  ToyTraining<float> toy;
  const SignalHandler interrupt;
  Trainer trainer(toy.model, toy.optimizer, toy.batches,
                  [&](Tape<float>& tape, const PairBatch& batch) {
                    if (toy.optimizer.steps() == 2) std::raise(SIGINT);
                    return toy.loss(tape, batch);
                  },
                  {.max_steps = 3, .interrupt = &interrupt});
  const TrainingResult result = trainer.run();
  CHECK(result.steps == 3);
  CHECK(result.end == StopReason::finished);
  CHECK(result.exit_status == 0);
}

TEST_CASE("trainer: an interrupted training has its last weights, not the best", "[train]") {
  ToyTraining<float> toy;
  const SignalHandler interrupt;
  std::vector<std::vector<float>> validated;
  Trainer trainer(toy.model, toy.optimizer, toy.batches,
                  [&](Tape<float>& tape, const PairBatch& batch) {
                    if (tape.training() && toy.optimizer.steps() == 1) std::raise(SIGINT);
                    return toy.loss(tape, batch);
                  },
                  {.max_steps = 5, .parts = 1, .interrupt = &interrupt});
  trainer.validate_with({.columns = {"loss"},
                         .run =
                             [&] {
                               validated.push_back(toy.values());
                               return std::vector{static_cast<double>(validated.size())};
                             },
                         .every_steps = 1,
                         .restore_best_weights = true});
  const TrainingResult result = trainer.run();
  CHECK(result.end == StopReason::interrupted);
  CHECK(result.best_step == 1);
  REQUIRE(validated.size() == 2);
  CHECK(toy.values() == validated[1]);
}

TEST_CASE("trainer: a run that resumes restores the best weights of its folder, not its own",
          "[train]") {
  const TemporaryFolder folder;
  ToyTraining<float> first, second;
  std::int64_t last = 2;
  double value = 3.0;
  const auto train = [&](ToyTraining<float>& toy) {
    auto trainer = std::make_unique<Trainer<float, PairBatch>>(
        toy.model, toy.optimizer, toy.batches, toy.loss_function(),
        TrainerOptions{.epochs = 9,
                       .should_stop = [&] { return toy.optimizer.steps() >= last; },
                       .folder = folder.path(),
                       .resume = true});
    trainer->validate_with({.columns = {"loss"},
                            .run = [&] { return std::vector{value++}; },
                            .every_steps = 1,
                            .restore_best_weights = true});
    trainer->run();
    return trainer;
  };
  const auto trainer = train(first);  // the values 3 and 4
  last = 3;
  value = 1.0;
  train(second);  // the best of all
  last = 4;
  value = 2.0;
  CHECK(trainer->run().best_step == 3);
  CHECK(first.values() == second.values());
}

TEST_CASE("trainer: a validation after the last step counts only for the best model", "[train]") {
  ToyTraining<float> toy;
  const double lr = toy.optimizer.learning_rate();
  std::vector<double> values{3.0, 2.0, 2.5};  // after steps 5, 10 and 12
  std::size_t validations = 0;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 9, .max_steps = 12, .plateau = Plateau{.factor = 0.5, .patience = 0}});
  trainer.validate_with({.columns = {"val_loss"},
                         .run = [&] { return std::vector{values.at(validations++)}; },
                         .every_steps = 5,
                         .patience = 1});
  const TrainingResult result = trainer.run();
  CHECK(validations == 3);
  CHECK(result.end == StopReason::finished);
  CHECK(result.best_step == 10);
  CHECK(toy.optimizer.learning_rate() == lr);
}

TEST_CASE("trainer: the loss on training data is that of batches from the whole epoch", "[train]") {
  ToyTraining<float> toy(30, 1);
  WatchedBatches batches(toy.batches);
  Trainer trainer(toy.model, toy.optimizer, batches, toy.loss_function(), {.epochs = 1});
  trainer.validate_with({.columns = {"val_loss"}, .run = [&] {
                           batches.positions.clear();
                           return std::vector{1.0};
                         }});
  trainer.run();
  CHECK(batches.positions == std::vector<Index>{0, 10, 20});
}
