#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/trainer.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/thread_count_guard.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

// The parameters of the toy model after training.
template <class T = float>
std::vector<T> trained(const TrainerOptions& options, Index batch_size = 4) {
  ToyTraining<T> toy(22, batch_size);
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), options).run();
  return toy.values();
}

}  // namespace

TEST_CASE("trainer: trains on all batches of all epochs", "[train]") {
  ToyTraining<float> toy;
  std::vector<int> seen(22, 0);
  Trainer trainer(toy.model, toy.optimizer, toy.batches,
                  [&](Tape<float>& tape, const PairBatch& batch) {
                    for (Index example : batch.examples) ++seen[static_cast<std::size_t>(example)];
                    return toy.loss(tape, batch);
                  },
                  {.epochs = 3});
  const TrainingResult result = trainer.run();
  CHECK(result.end == StopReason::finished);
  CHECK(result.steps == 18);
  CHECK(toy.optimizer.steps() == 18);
  CHECK(std::count(seen.begin(), seen.end(), 3) == 22);
}

TEST_CASE("trainer: the loss decreases", "[train]") {
  ToyTraining<float> toy;
  const auto loss = [&] {
    Tape<float> tape = Tape<float>::inference();
    return toy.loss(tape, toy.batches.batch(0, 0)).item();
  };
  const float before = loss();
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.epochs = 8}).run();
  CHECK(loss() < 0.7f * before);
}

TEST_CASE("trainer: every batch has its own random numbers and examples, accumulated or not",
          "[train]") {
  for (const Index accumulation : {1, 4}) {
    INFO("accumulation " << accumulation);
    ToyTraining<float> toy(22, 4);  // 6 batches: updates of 4 and 2
    std::vector<std::uint32_t> steps;
    std::vector<std::vector<Index>> examples, expected;
    const auto loss = [&](Tape<float>& tape, const PairBatch& batch) {
      steps.push_back(tape.step());
      examples.push_back(batch.examples);
      return toy.loss(tape, batch);
    };
    Trainer(toy.model, toy.optimizer, toy.batches, loss,
            {.epochs = 2, .gradient_accumulation_steps = accumulation, .parts = 1})
        .run();
    CHECK(steps == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    for (const std::int64_t epoch : {0, 1})
      for (Index batch = 0; batch < 6; ++batch)
        expected.push_back(toy.batches.batch(epoch, batch).examples);
    CHECK(examples == expected);
  }
}

TEST_CASE("trainer: the last update of an epoch takes the remaining batches", "[train]") {
  ToyTraining<float> toy(22, 4);  // 6 batches: updates of 4 and 2
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 2, .gradient_accumulation_steps = 4});
  CHECK(trainer.run().steps == 4);
  CHECK(trainer.progress().micro_step == 12);
}

TEST_CASE("trainer: the schedule sets the learning rate of every step, from step 1", "[train]") {
  ToyTraining<float> toy;
  std::vector<std::int64_t> steps;
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
          {.max_steps = 3,
           .schedule = Schedule("test",
                                [&](std::int64_t step) {
                                  steps.push_back(step);
                                  return 0.25 * static_cast<double>(step);
                                })})
      .run();
  CHECK(steps == std::vector<std::int64_t>{1, 2, 3});
  CHECK(toy.optimizer.learning_rate() == 0.75);
}

TEST_CASE("trainer: gradients are clipped", "[train]") {
  ToyTraining<double> clipped, free;
  SGD sgd(clipped.model, {.lr = 1.0}), free_sgd(free.model, {.lr = 1.0});
  Trainer(clipped.model, sgd, clipped.batches, clipped.loss_function(),
          {.max_steps = 1, .clip_norm = 1e-3})
      .run();
  Trainer(free.model, free_sgd, free.batches, free.loss_function(), {.max_steps = 1}).run();
  const auto norm = [](const std::vector<double>& values) {
    double sum = 0.0;
    for (double value : values) sum += value * value;
    return std::sqrt(sum);
  };
  CHECK(norm(free.values()) > 0.1);
  CHECK(std::abs(norm(clipped.values()) - 1e-3) < 1e-6);
}

TEST_CASE("trainer: frozen parameters keep their values, whether the optimizer has them or not",
          "[train]") {
  for (const Index parts : {1, 2})
    for (const bool given : {false, true}) {
      ToyTraining<float> toy;
      freeze(toy.model, "bias");
      NamedParameters<float> parameters{{"weight", &toy.model.weight}};
      if (given) parameters.push_back({"bias", &toy.model.bias});
      SGD<float> optimizer(parameters, {.lr = 0.1});
      Trainer(toy.model, optimizer, toy.batches, toy.loss_function(), {.epochs = 2, .parts = parts})
          .run();
      CHECK_FALSE(toy.model.bias.has_grad());
      for (const float value : toy.model.bias.value()) CHECK(value == 0.0f);
      CHECK(std::ranges::any_of(toy.model.weight.value(), [](float value) { return value != 0; }));
    }
}

TEST_CASE("trainer: the optimizer must have the parameters of the model", "[train]") {
  ToyTraining<float> toy, other;
  SGD<float> some({{"weight", &toy.model.weight}}, {.lr = 0.1});
  const auto message = [&](Optimizer<float>& optimizer) {
    Trainer trainer(toy.model, optimizer, toy.batches, toy.loss_function(), {});
    return message_of<ValueError>([&] { trainer.run(); });
  };
  CHECK(message(some) ==
        "trainer: optimizer: expected all parameters of the model that are not frozen, got an "
        "optimizer without bias");
  CHECK(message(other.optimizer) ==
        "trainer: optimizer: expected only parameters of the trained model, got weight of a "
        "different model");
}

TEST_CASE("trainer: dropout depends on the seed", "[train]") {
  CHECK(trained({.seed = 1}) == trained({.seed = 1}));
  CHECK(trained({.seed = 1}) != trained({.seed = 2}));
}

TEST_CASE("trainer: logs the mean loss of the labels since the last row", "[train]") {
  const TemporaryFolder folder;
  // Updates of 4 and 2 batches, which have different numbers of labels; the model does not change.
  ToyTraining<double> toy(22, 4);
  SGD optimizer(toy.model, {.lr = 0.0});
  std::vector<double> losses, labels;
  const auto loss = [&](Tape<double>& tape, const PairBatch& batch) {
    // A loss that depends on the batch, which the weights of the toy model do not.
    const double of_batch = 1.0 + static_cast<double>(losses.size());
    losses.push_back(of_batch * static_cast<double>(batch.num_labels));
    labels.push_back(static_cast<double>(batch.num_labels));
    const Var<double> zero = scale(toy.loss(tape, batch), 0.0);
    return zero + tape.constant(Tensor<double>(Shape{}, {of_batch}));
  };
  Trainer(toy.model, optimizer, toy.batches, loss,
          {.epochs = 4,
           .gradient_accumulation_steps = 4,
           .folder = folder.path(),
           .log_every_steps = 3})
      .run();
  // Rows after steps 2 and 4, the ends of epochs, 3, and so on: of these batches.
  const std::vector<std::pair<std::size_t, std::size_t>> rows{
      {0, 6}, {6, 10}, {10, 12}, {12, 18}, {18, 24}};
  std::ifstream metrics(folder / "metrics.csv");
  std::string line;
  std::getline(metrics, line);
  for (const auto& [first, last] : rows) {
    REQUIRE(std::getline(metrics, line));
    double sum = 0.0, count = 0.0;
    for (std::size_t i = first; i < last; ++i) {
      sum += losses[i];
      count += labels[i];
    }
    INFO(line);
    const std::size_t start = line.find(',', line.find(',') + 1) + 1;
    CHECK(std::stod(line.substr(start)) == Approx(sum / count).epsilon(1e-5));
  }
}

TEST_CASE("trainer: stops after `patience` validations without improvement", "[train]") {
  ToyTraining<float> toy;
  const std::vector<double> values = {3.0, 2.0, 2.5, 1.0, 1.0, std::nan(""), 1.5, 0.0};
  std::size_t validations = 0;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.epochs = 100});
  trainer.validate_with({.columns = {"val_loss"},
                         .run = [&] { return std::vector{values.at(validations++)}; },
                         .patience = 3});
  const TrainingResult result = trainer.run();
  CHECK(result.end == StopReason::stopped_early);
  CHECK(validations == 7);
  CHECK(result.steps == 7 * 6);
  CHECK(result.best_step == 4 * 6);
  CHECK(result.best_value == 1.0);
}

TEST_CASE("trainer: stops when should_stop returns true", "[train]") {
  ToyTraining<float> toy;
  std::vector<std::string> events;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 100, .should_stop = [&] {
                     events.push_back("should_stop");
                     return events.size() == 6;
                   }});
  trainer.validate_with({.columns = {"val_loss"},
                         .run =
                             [&] {
                               events.push_back("validated");
                               return std::vector{1.0};
                             },
                         .every_steps = 2});
  const TrainingResult result = trainer.run();
  CHECK(result.end == StopReason::stopped_early);
  CHECK(result.steps == 4);
  CHECK(events == std::vector<std::string>{"should_stop", "validated", "should_stop", "should_stop",
                                           "validated", "should_stop"});
}

TEST_CASE("trainer: validates every `every_steps` steps", "[train]") {
  ToyTraining<float> toy;
  std::vector<std::int64_t> steps;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.epochs = 2});
  trainer.validate_with({.columns = {"a", "b"},
                         .run =
                             [&] {
                               steps.push_back(toy.optimizer.steps());
                               return std::vector{1.0, 2.0};
                             },
                         .every_steps = 5});
  trainer.run();
  CHECK(steps == std::vector<std::int64_t>{5, 10, 12});  // the last step, too
}

TEST_CASE("trainer: Ctrl-C, a closed terminal or a closed pipe end training after the step, saved",
          "[train]") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    std::signal(signal, SIG_DFL);  // nohup, or a program that starts this one, may ignore it
    const TemporaryFolder folder;
    ToyTraining<float> toy;
    const SignalHandler interrupt;
    Trainer trainer(toy.model, toy.optimizer, toy.batches,
                    [&](Tape<float>& tape, const PairBatch& batch) {
                      if (toy.optimizer.steps() == 7) std::raise(signal);
                      return toy.loss(tape, batch);
                    },
                    {.epochs = 5, .folder = folder.path(), .interrupt = &interrupt});
    const TrainingResult result = trainer.run();
    CHECK(result.end == StopReason::interrupted);
    CHECK(result.steps == 8);
    ToyTraining<float> loaded;
    load_checkpoint(folder / "last.h5", loaded.model);
    CHECK(loaded.values() == toy.values());
  }
}

TEST_CASE("trainer: a NaN names the step and the operation, and changes no parameter", "[train]") {
  ToyTraining<float> toy;
  std::vector<float> before;
  const auto loss = [&](Tape<float>& tape, const PairBatch& batch) {
    if (toy.optimizer.steps() < 3) return toy.loss(tape, batch);
    before = toy.values();
    const auto infinite = Tensor<float>::full({1, 9}, std::numeric_limits<float>::infinity());
    return cross_entropy(linear(tape.constant(infinite), tape.parameter(toy.model.weight)),
                         Tokens({1}, {0}));
  };
  Trainer trainer(toy.model, toy.optimizer, toy.batches, loss, {.epochs = 5});
  CHECK(contains(message_of<NonFiniteError>([&] { trainer.run(); }), "step 4: operation 'linear'"));
  CHECK(toy.values() == before);
  CHECK(toy.optimizer.steps() == 3);
}

TEST_CASE("trainer: a gradient that overflows names the step and the operation", "[train]") {
  ToyTraining<float> toy;
  const auto loss = [&](Tape<float>& tape, const PairBatch&) {
    // 1e30 · 1e30 overflows in the backward alone: the weight is zero.
    const Var<float> x = tape.constant(Tensor<float>::full({1, 9}, 1e30f));
    const Var<float> y = linear(x, tape.parameter(toy.model.weight));
    return linear(y, tape.constant(Tensor<float>::full({1, 9}, 1e30f)));
  };
  Trainer trainer(toy.model, toy.optimizer, toy.batches, loss, {});
  CHECK(contains(message_of<NonFiniteError>([&] { trainer.run(); }),
                 "step 1: backward of operation 'linear': expected finite gradients"));
  for (float value : toy.values()) CHECK(value == 0.0f);
}

TEST_CASE("trainer: options outside their ranges throw", "[train]") {
  ToyTraining<float> toy;
  const auto make = [&](const TrainerOptions& options) {
    Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), options);
  };
  CHECK_THROWS_WITH(make({.epochs = -1}), "trainer: epochs: expected a number ≥ 0, got -1");
  CHECK_THROWS_AS(make({.max_steps = -1}), ValueError);
  CHECK_THROWS_AS(make({.gradient_accumulation_steps = 0}), ValueError);
  for (const Index parts : {Index{-1}, Index{4097}, std::numeric_limits<Index>::max()})
    CHECK(message_of<ValueError>([&] { make({.parts = parts}); }) ==
          str_cat("trainer: parts: expected a value from 0 to 4096, got ", parts));
  CHECK_THROWS_AS(make({.clip_norm = 0.0}), ValueError);
  CHECK_THROWS_AS(make({.clip_norm = std::nan("")}), ValueError);
  CHECK_THROWS_WITH(make({.resume = true}),
                    "trainer: resume: expected a folder to resume from, got an empty path");
  CHECK_THROWS_AS(make({.save_every_steps = -1}), ValueError);
  CHECK_THROWS_AS(make({.save_every_seconds = -1.0}), ValueError);
  CHECK_THROWS_AS(make({.log_every_steps = 0}), ValueError);
  CHECK_THROWS_WITH(make({.max_consecutive_skips = -1}),
                    "trainer: max_consecutive_skips: expected a number ≥ 0, got -1");
}

TEST_CASE("trainer: options of a plateau outside their ranges throw", "[train]") {
  ToyTraining<float> toy;
  const auto message = [&](const Plateau& plateau) {
    return message_of<ValueError>([&] {
      Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.plateau = plateau});
    });
  };
  CHECK(message({.factor = 1.0}) == "trainer: plateau.factor: expected 0 ≤ factor < 1, got 1");
  CHECK(message({.patience = -1}) == "trainer: plateau.patience: expected a number ≥ 0, got -1");
  CHECK(message({.threshold = 1.0}) ==
        "trainer: plateau.threshold: expected 0 ≤ threshold < 1, got 1");
  CHECK(message({.min_delta = -0.5}) ==
        "trainer: plateau.min_delta: expected a finite number ≥ 0, got -0.5");
  CHECK(message({.cooldown = -2}) == "trainer: plateau.cooldown: expected a number ≥ 0, got -2");
  CHECK(message({.min_lr = -1.0}) ==
        "trainer: plateau.min_lr: expected a finite number ≥ 0, got -1");
}

TEST_CASE("trainer: epochs and accumulated batches may be as many as fit in their type",
          "[train]") {
  ToyTraining<float> toy;  // 6 batches
  std::ostringstream output;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = std::numeric_limits<std::int64_t>::max(),
                   .max_steps = 3,
                   .gradient_accumulation_steps = std::numeric_limits<Index>::max(),
                   .output = &output});
  CHECK(trainer.run().steps == 3);
  CHECK(trainer.progress().epoch == 3);
  CHECK(contains(output.str(), " 1/3 "));
  CHECK(contains(output.str(), " 3/3 "));
}

TEST_CASE("trainer: an empty function is refused at construction by its name", "[train]") {
  ToyTraining<float> toy;
  const auto message = [&](const LossFunction<float, PairBatch>& loss,
                           const TrainerOptions& options) {
    return message_of<ValueError>(
        [&] { Trainer(toy.model, toy.optimizer, toy.batches, loss, options); });
  };
  CHECK(message({}, {}) == "trainer: loss: expected a function, got none");
  CHECK(message(toy.loss_function(), {}).empty());
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {});
  CHECK(message_of<ValueError>([&] { trainer.validate_with({.columns = {"loss"}, .run = {}}); }) ==
        "trainer: validation.run: expected a function, got none");
  CHECK_THROWS_AS(trainer.validate_with({}), ValueError);
}

TEST_CASE("trainer: same bits on 1, 2, 3 and 8 threads", "[train]") {
  check_same_bits([] {
    ToyTraining<float> toy;
    Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
            {.epochs = 2, .clip_norm = 0.1})
        .run();
    return std::vector{toy.model.weight.value(), toy.model.bias.value()};
  });
}

TEST_CASE("trainer: without bf16 products, says that it uses single precision", "[train]") {
  if (is_supported(Precision::bf16)) return;
  std::ostringstream output;
  const auto run = [&](Precision precision) {
    ToyTraining<float> toy;
    Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
            {.output = &output, .precision = precision})
        .run();
    return toy.values();
  };
  const std::string note = "bf16: not supported on this machine, so products use single precision";
  const auto values = run(Precision::full);
  CHECK(output.str().find(note) == std::string::npos);
  CHECK(run(Precision::bf16) == values);
  CHECK(output.str().find(note) != std::string::npos);
}

TEST_CASE("trainer: the precision is that of the training passes, not of validations", "[train]") {
  const EmulateBf16 emulation;
  std::vector<Precision> training, validation;
  const auto run = [&](Precision precision) {
    ToyTraining<float> toy;
    Trainer trainer(toy.model, toy.optimizer, toy.batches,
                    [&](Tape<float>& tape, const PairBatch& batch) {
                      (tape.training() ? training : validation).push_back(tape.precision());
                      return toy.loss(tape, batch);
                    },
                    {.precision = precision});
    trainer.validate_on(toy.batches);
    trainer.run();
    return toy.values();
  };
  CHECK(run(Precision::full) != run(Precision::bf16));
  CHECK(std::count(training.begin(), training.end(), Precision::full) == 6);
  CHECK(std::count(training.begin(), training.end(), Precision::bf16) == 6);
  // In each of two trainings, one of 6 batches and one of those that are trained on.
  CHECK(std::count(validation.begin(), validation.end(), Precision::full) == 2 * 7);
  CHECK(message_of<ValueError>([] { trained<double>({.precision = Precision::bf16}); }) ==
        "tape: precision: expected full for numbers of type double, got bf16");
}
