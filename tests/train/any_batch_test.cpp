// The trainer with batches of other types than pairs.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <numeric>
#include <sstream>

#include <weft/autograd/ops/losses.hpp>
#include <weft/layers.hpp>
#include <weft/train.hpp>
#include "tests/autograd/same_bits.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

// A model with dropout for each batch type, the data, and the loss.
struct Regression {
  using Batch = TensorBatch<float>;
  Random random{1};
  Linear<float> model{{3, 2}, random};
  TensorBatches<float> source{random.normal_tensor<float>({21, 3}, 0.0, 1.0),
                              random.normal_tensor<float>({21, 2}, 0.0, 1.0),
                              {.batch_size = 8}};
  Var<float> loss(Tape<float>& tape, const Batch& batch) const {
    return mse_loss(model(dropout(tape.constant(batch.inputs), 0.1)), tape.constant(batch.targets));
  }
};

struct NextToken {
  using Batch = TensorBatch<TokenId>;
  Random random{1};
  Embedding<float> model{{.num_embeddings = 7, .embedding_dim = 7}, random};
  WindowBatches<TokenId> source{tokens(), {.length = 5, .batch_size = 4}};
  static Tokens tokens() {
    Random numbers(4);
    Tokens result({103});
    for (TokenId& token : result) token = static_cast<TokenId>(numbers.below(7));
    return result;
  }
  Var<float> loss(Tape<float>& tape, const Batch& batch) const {
    return cross_entropy(dropout(model(tape, batch.inputs), 0.1), batch.targets);
  }
};

struct Classification {
  using Batch = LabelledBatch;
  Random random{1};
  Embedding<float> model{{.num_embeddings = 7, .embedding_dim = 3}, random};
  LabelledBatches source{examples(), {.batch_size = 6}};
  static std::vector<LabelledSequence> examples() {
    Random numbers(4);
    std::vector<LabelledSequence> result(26);
    for (auto& [sequence, label] : result) {
      label = static_cast<TokenId>(numbers.below(3));
      for (Index i = 0; i <= numbers.below(4); ++i)
        sequence.push_back(static_cast<TokenId>(numbers.below(7)));
    }
    return result;
  }
  Var<float> loss(Tape<float>& tape, const Batch& batch) const {
    const Var<float> x = dropout(model(tape, batch.sequences.tokens), 0.1);
    return cross_entropy(sum(x, {1}), batch.labels);
  }
};

template <class Task>
std::vector<Tensor<float>> parameters_of(Task& task) {
  std::vector<Tensor<float>> values;
  for (const auto& [name, parameter] : named_parameters(task.model))
    values.push_back(parameter->value());
  return values;
}

template <class Task>
std::vector<Tensor<float>> trained(const TrainerOptions& options) {
  Task task;
  AdamW<float> optimizer(task.model, {.lr = 0.02});
  Trainer trainer(
      task.model, optimizer, task.source,
      [&](Tape<float>& tape, const typename Task::Batch& batch) { return task.loss(tape, batch); },
      options);
  trainer.run();
  return parameters_of(task);
}

bool same_bits(const std::vector<Tensor<float>>& a, const std::vector<Tensor<float>>& b) {
  return std::ranges::equal(a, b, [](const Tensor<float>& x, const Tensor<float>& y) {
    return std::ranges::equal(x.values(), y.values());
  });
}

// The learning rates of the steps before validations that give `values`, each below the last one by
// a factor of 0.1 after two validations without improvement.
std::vector<double> rates_on_plateau(const std::vector<double>& values,
                                     const std::optional<Schedule>& schedule = {},
                                     const Plateau& plateau = {.factor = 0.1, .patience = 1}) {
  Regression task;
  SGD<float> optimizer(task.model, {.lr = 0.5});
  std::vector<double> rates;
  const auto validate = [&] {
    rates.push_back(optimizer.learning_rate());
    return std::vector{values[rates.size() - 1]};
  };
  TrainerOptions options{.epochs = 9, .max_steps = std::ssize(values)};
  options.plateau = plateau;
  options.schedule = schedule;
  Trainer trainer(
      task.model, optimizer, task.source,
      [&](Tape<float>& tape, const TensorBatch<float>& batch) { return task.loss(tape, batch); },
      options);
  trainer.validate_with({.columns = {"loss"}, .run = validate, .every_steps = 1});
  trainer.run();
  return rates;
}

}  // namespace

TEMPLATE_TEST_CASE("trainer: any batch type, the same bits on any number of threads", "[train]",
                   Regression, NextToken, Classification) {
  check_same_bits([] { return trained<TestType>({.epochs = 3, .parts = 3}); });
}

TEMPLATE_TEST_CASE("trainer: any batch type resumes bit for bit", "[train]", Regression, NextToken,
                   Classification) {
  const TemporaryFolder folder;
  const auto whole = trained<TestType>({.epochs = 3, .gradient_accumulation_steps = 2, .parts = 2});
  const auto in_folder = [&](std::int64_t max_steps, bool resume) {
    return trained<TestType>({.epochs = 3,
                              .max_steps = max_steps,
                              .gradient_accumulation_steps = 2,
                              .parts = 2,
                              .folder = folder.path(),
                              .resume = resume});
  };
  CHECK_FALSE(same_bits(in_folder(3, false), whole));
  CHECK(same_bits(in_folder(0, true), whole));
}

TEST_CASE("trainer: a mean loss in parts and accumulated gives the update of the whole batch",
          "[train]") {
  // The trainer weights the parts: mse_loss knows nothing of them.
  const auto trained_on = [](Index batch_size, Index accumulation, Index parts) {
    Random random(3);
    Linear<double> model({3, 1}, random);
    TensorBatches<double> source(random.normal_tensor<double>({22, 3}, 0.0, 1.0),
                                 random.normal_tensor<double>({22, 1}, 0.0, 1.0),
                                 {.batch_size = batch_size, .shuffle = false});
    SGD<double> optimizer(model, {.lr = 0.1});
    Trainer(model, optimizer, source,
            [&](Tape<double>& tape, const TensorBatch<double>& batch) {
              return mse_loss(model(tape.constant(batch.inputs)), tape.constant(batch.targets));
            },
            {.epochs = 2, .gradient_accumulation_steps = accumulation, .parts = parts})
        .run();
    return model.weight.value();
  };
  const Tensor<double> whole = trained_on(22, 1, 1);
  for (const auto& other : {trained_on(22, 1, 3), trained_on(8, 3, 1), trained_on(8, 3, 4)})
    for (Index i = 0; i < 3; ++i) CHECK(std::abs(other(0, i) - whole(0, i)) < 1e-13);
}

namespace {

// A batch type of a user, of which nothing is known.
struct Pixel {
  float x = 0.0f;
};

struct Pixels final : DataSource<Pixel> {
  Index num_batches() const override { return 4; }
  Pixel batch(std::int64_t, Index position) override { return {static_cast<float>(position)}; }
  std::uint64_t fingerprint() const override { return 1; }
};

}  // namespace

TEST_CASE("trainer: a batch type without functions is trained whole", "[train]") {
  Random random(1);
  Linear<float> model({1, 1}, random);
  SGD<float> optimizer(model, {.lr = 0.01});
  Pixels pixels;
  const auto loss = [&](Tape<float>& tape, const Pixel& pixel) {
    const Tensor<float> x({1, 1}, {pixel.x});
    return mse_loss(model(tape.constant(x)), tape.constant(x));
  };
  CHECK(Trainer(model, optimizer, pixels, loss, {.epochs = 2, .gradient_accumulation_steps = 2})
            .run()
            .steps == 4);
  CHECK(message_of<ValueError>([&] { Trainer(model, optimizer, pixels, loss, {.parts = 2}); }) ==
        "trainer: parts: expected 1 for batches without num_examples and part_of, got 2");
  CHECK_THROWS_AS(mean_loss(pixels, loss, 2), ValueError);
  CHECK(mean_loss(pixels, loss) > 0.0);
}

TEST_CASE("trainer: validates on a data source with its own loss and metrics", "[train]") {
  const TemporaryFolder folder;
  Regression task;
  SGD<float> optimizer(task.model, {.lr = 0.05});
  const auto loss = [&](Tape<float>& tape, const TensorBatch<float>& batch) {
    return task.loss(tape, batch);
  };
  Trainer trainer(task.model, optimizer, task.source, loss,
                  {.epochs = 2, .parts = 2, .folder = folder.path()});
  std::atomic<bool> for_inference = true;  // the tapes of all threads
  trainer.validate_on(task.source, {.every_steps = 4},
                      {{"examples", [&](Tape<float>& tape, const TensorBatch<float>& batch) {
                          if (tape.training() || tape.recording()) for_inference = false;
                          return static_cast<double>(num_examples(batch));
                        }}});
  const TrainingResult result = trainer.run();
  CHECK(for_inference);
  CHECK(result.steps == 6);
  CHECK(result.best_step == 6);  // validated at steps 4 and 6, the last
  // Without dropout, and whatever the parts.
  const double expected = mean_loss(task.source, loss, 3);
  CHECK(std::abs(result.best_value - expected) < 1e-6);
  std::ifstream metrics(folder / "metrics.csv");
  const std::string text((std::istreambuf_iterator<char>(metrics)), {});
  CHECK(
      text.starts_with("step,epoch,loss,learning_rate,grad_norm,targets_per_s,validation_loss,"
                       "examples,training_loss\n"));
}

TEST_CASE("trainer: stopped by should_stop, the last step is validated and may be the best",
          "[train]") {
  Regression task;
  SGD<float> optimizer(task.model, {.lr = 0.05});
  std::int64_t steps = 0;
  Trainer trainer(
      task.model, optimizer, task.source,
      [&](Tape<float>& tape, const TensorBatch<float>& batch) { return task.loss(tape, batch); },
      {.epochs = 9, .should_stop = [&] { return ++steps == 5; }});
  trainer.validate_on(task.source, {.every_steps = 100});
  const TrainingResult result = trainer.run();
  CHECK(result.end == StopReason::stopped_early);
  CHECK(result.best_step == 5);
  CHECK(result.best_value > 0.0);
}

TEST_CASE("mean loss: weights batches and parts by their labels", "[train]") {
  Tensor<float> inputs({5, 1});
  std::iota(inputs.begin(), inputs.end(), 1.0f);
  TensorBatches<float> source(inputs, inputs, {.batch_size = 3});
  const auto mean_input = [](Tape<float>& tape, const TensorBatch<float>& batch) {
    return mean(tape.constant(batch.inputs));
  };
  for (const Index parts : {1, 2, 3}) CHECK(mean_loss(source, mean_input, parts) == 3.0);
  CHECK(mean_metric(
            source,
            [](Tape<float>&, const TensorBatch<float>& batch) {
              return static_cast<double>(batch.inputs.data()[0]);
            },
            3) == 3.0);
  CHECK_THROWS_AS(mean_loss(source, mean_input, 0), ValueError);
}

TEST_CASE("trainer: keeps an average, validates it and saves it", "[train]") {
  const TemporaryFolder folder;
  const auto train = [&](std::int64_t max_steps, bool resume) {
    Regression task;
    SGD<float> optimizer(task.model, {.lr = 0.05});
    ExponentialMovingAverage<float> average(task.model, 0.5);
    Trainer trainer(
        task.model, optimizer, task.source,
        [&](Tape<float>& tape, const TensorBatch<float>& batch) { return task.loss(tape, batch); },
        {.epochs = 4, .max_steps = max_steps, .folder = folder.path(), .resume = resume});
    trainer.track_average(average);
    trainer.validate_on(task.source);
    const TrainingResult result = trainer.run();
    CHECK(average.updates() == result.steps);
    average.swap();
    const double loss = mean_loss(
        task.source, [&](Tape<float>& tape, const auto& batch) { return task.loss(tape, batch); });
    CHECK(result.best_step == result.steps);
    CHECK(loss == result.best_value);
    return parameters_of(task);
  };
  train(5, false);
  const auto resumed = train(0, true);
  std::filesystem::remove_all(folder.path());
  CHECK(same_bits(train(0, false), resumed));
}

TEST_CASE("trainer: a validation or examples that throw leave the trained weights in the model",
          "[train]") {
  for (const bool in_examples : {false, true}) {
    Regression task, other;
    SGD<float> optimizer(task.model, {.lr = 0.05}), other_optimizer(other.model, {.lr = 0.05});
    const auto train = [](Regression& own, SGD<float>& with, const auto& set_up) {
      const TemporaryFolder folder;
      ExponentialMovingAverage<float> average(own.model, 0.5);
      Trainer trainer(
          own.model, with, own.source,
          [&](Tape<float>& tape, const TensorBatch<float>& batch) { return own.loss(tape, batch); },
          {.max_steps = 3, .folder = folder.path()});
      trainer.track_average(average);
      set_up(trainer);
      trainer.run();
    };
    train(task, optimizer, [](auto&) {});
    CHECK(message_of<Error>([&] {
            train(other, other_optimizer, [&](auto& trainer) {
              trainer.validate_with({.columns = {"loss"}, .run = [in_examples] {
                                       if (!in_examples) throw Error("no more data");
                                       return std::vector{1.0};
                                     }});
              trainer.show_examples([](ReportSection&) { throw Error("no more data"); });
            });
          }) == "no more data");
    CHECK(same_bits(parameters_of(task), parameters_of(other)));
  }
}

TEST_CASE("trainer: lowers the learning rate on a plateau", "[train]") {
  // Improvements at validations 1 and 3.
  const std::vector<double> values{3.0, 3.0, 2.0, 2.0, 1.9999, 5.0, 5.0};
  const std::vector<double> rates{0.5, 0.5, 0.5, 0.5, 0.5, 0.05, 0.05};
  CHECK(rates_on_plateau(values) == rates);
  CHECK(rates_on_plateau(values, constant_schedule(0.5)) == rates);
  Regression task;
  SGD<float> optimizer(task.model, {.lr = 0.5});
  Trainer trainer(task.model, optimizer, task.source,
                  [&](Tape<float>& tape, const auto& batch) { return task.loss(tape, batch); },
                  {.plateau = Plateau{}});
  CHECK(message_of<ValueError>([&] { trainer.run(); }) ==
        "trainer: plateau: expected a validation, got none");
}

TEST_CASE("trainer: a plateau has a least improvement, a cooldown and a lowest rate", "[train]") {
  const Plateau plateau{
      .factor = 0.5, .patience = 0, .min_delta = 0.25, .cooldown = 1, .min_lr = 0.2};
  // Improvements at validations 1 and 3; reductions at 2, 5 and 7; cooldowns at 3, 6 and 8.
  const std::vector<double> values{3.0, 2.8, 2.5, 2.0, 1.8, 9.0, 9.0, 9.0, 9.0};
  const std::vector<double> rates{0.5, 0.5, 0.25, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2};
  CHECK(rates_on_plateau(values, {}, plateau) == rates);
  CHECK(rates_on_plateau(values, constant_schedule(0.5), plateau) == rates);
  // A schedule's rates below min_lr are not raised.
  CHECK(rates_on_plateau(values, constant_schedule(0.1), plateau) == std::vector<double>(9, 0.1));
}

TEST_CASE("trainer: restores the best weights, also those of an average or before resuming",
          "[train]") {
  const std::vector<double> values{3.0, 1.0, 2.0, 2.0};
  const TemporaryFolder folder;
  for (const bool averages : {false, true}) {
    std::vector<Tensor<float>> best;
    // Returns the weights after the steps [first, last) of a run with validations after each step.
    const auto train = [&](std::size_t first, std::int64_t last, bool saves, bool restores) {
      Regression task;
      SGD<float> optimizer(task.model, {.lr = 0.05});
      ExponentialMovingAverage<float> average(task.model, 0.5);
      TrainerOptions options{.epochs = 9, .max_steps = last};
      if (saves) options.folder = folder.path();
      options.resume = saves;
      Trainer trainer(
          task.model, optimizer, task.source,
          [&](Tape<float>& tape, const auto& batch) { return task.loss(tape, batch); }, options);
      if (averages) trainer.track_average(average);
      trainer.validate_with({.columns = {"loss"},
                             .run =
                                 [&] {
                                   if (first == 1) best = parameters_of(task);
                                   return std::vector{values[first++]};
                                 },
                             .every_steps = 1,
                             .restore_best_weights = restores});
      trainer.run();
      return parameters_of(task);
    };
    const auto last = train(0, 4, false, false);
    CHECK_FALSE(same_bits(last, best));
    CHECK(same_bits(train(0, 4, false, true), best));
    train(0, 3, true, false);
    CHECK(same_bits(train(3, 4, true, true), best));
    Regression saved;
    load_checkpoint(folder / "last.h5", saved.model);
    if (!averages) CHECK(same_bits(parameters_of(saved), last));
    std::filesystem::remove_all(folder.path());
  }
}

TEST_CASE("trainer: a second run continues with the restored best weights", "[train]") {
  Regression task;
  SGD<float> optimizer(task.model, {.lr = 0.05});
  std::vector<Tensor<float>> seen;
  std::vector<std::vector<Tensor<float>>> validated;
  Trainer trainer(task.model, optimizer, task.source,
                  [&](Tape<float>& tape, const auto& batch) {
                    seen = parameters_of(task);
                    return task.loss(tape, batch);
                  },
                  {.epochs = 9, .parts = 1, .should_stop = [&] { return validated.size() == 3; }});
  trainer.validate_with({.columns = {"loss"},
                         .run =
                             [&] {
                               validated.push_back(parameters_of(task));
                               return std::vector{validated.size() == 1 ? 1.0 : 2.0};
                             },
                         .every_steps = 1,
                         .restore_best_weights = true});
  CHECK(trainer.run().steps == 3);
  CHECK(same_bits(parameters_of(task), validated[0]));
  std::int64_t second_steps = 0;
  trainer.after_step([&](const StepReport&) {
    if (second_steps++ == 0) CHECK(same_bits(seen, validated[0]));
  });
  CHECK(trainer.run().steps == 27);
  CHECK(second_steps == 24);
}

TEST_CASE("trainer: steps that are not finite are skipped, as many in a row as allowed",
          "[train]") {
  const TemporaryFolder folder;
  std::ostringstream output;
  std::vector<StepReport> reports;
  // The loss of steps 2 and 3 is infinite, the gradient of step 5 is. Returns the result of
  // training until a step, and the weights.
  const auto train = [&](std::int64_t last, std::int64_t skips, const std::string& name) {
    Regression task;
    SGD<float> optimizer(task.model, {.lr = 0.05, .momentum = 0.5});
    ExponentialMovingAverage<float> average(task.model, 0.5);
    Trainer trainer(task.model, optimizer, task.source,
                    [&](Tape<float>& tape, const auto& batch) {
                      const std::int64_t step = std::ssize(reports) + 1;
                      const Var<float> loss = task.loss(tape, batch);
                      if (step == 2 || step == 3) return scale(loss, 1e300);
                      if (step == 5) return loss + sqrt(sum(0.0f * loss));
                      return loss;
                    },
                    {.epochs = 9,
                     .max_steps = last,
                     .max_consecutive_skips = skips,
                     .folder = folder / name,
                     .resume = true,
                     .output = &output});
    trainer.track_average(average);
    trainer.after_step([&](const StepReport& report) { reports.push_back(report); });
    const TrainingResult result = trainer.run();
    CHECK(average.updates() == result.steps - result.skipped_steps);
    CHECK(optimizer.steps() == result.steps - result.skipped_steps);
    return std::pair(result, parameters_of(task));
  };
  const auto [result, weights] = train(6, 2, "whole");
  CHECK(result.steps == 6);
  CHECK(result.skipped_steps == 3);
  REQUIRE(reports.size() == 6);
  for (const StepReport& report : reports)
    CHECK(report.is_skipped == (report.step == 2 || report.step == 3 || report.step == 5));
  CHECK(contains(output.str(),
                 "warning: step 2 is skipped, because its loss or a gradient is not "
                 "finite; try a lower learning rate"));
  CHECK(contains(output.str(), "\nstep 5 is skipped"));
  // Resumed between the skipped steps.
  reports.clear();
  train(2, 2, "parts");
  const auto [resumed, resumed_weights] = train(6, 2, "parts");
  CHECK(resumed.skipped_steps == 3);
  CHECK(same_bits(resumed_weights, weights));
  reports.clear();
  CHECK(contains(message_of<NonFiniteError>([&] { train(6, 1, "too many"); }), "step 3: "));
}

TEST_CASE("trainer: a negative value improves when it is lower by more than the threshold",
          "[train]") {
  CHECK(rates_on_plateau({-5.0, -5.0, -5.0, -5.0}) == std::vector{0.5, 0.5, 0.5, 0.05});
  CHECK(rates_on_plateau({-5.0, -5.0004, -5.0006, -5.0006, -5.0006, -5.0006}) ==
        std::vector{0.5, 0.5, 0.5, 0.5, 0.5, 0.05});
  CHECK(rates_on_plateau({0.0, 0.0, -1e-9, -1e-9, -1e-9, -1e-9}) ==
        std::vector{0.5, 0.5, 0.5, 0.5, 0.5, 0.05});
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(rates_on_plateau({-infinity, -5.0, -6.0, -7.0}) == std::vector{0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("weighted_mean: examples count by their weights", "[train]") {
  Tape<double> tape({.training = true});
  const Var<double> losses = tape.variable(Tensor<double>({3}, {1.0, 4.0, 9.0}));
  const WeightedLoss<double> loss = weighted_mean(losses, Tensor<double>({3}, {3.0, 0.0, 1.0}));
  CHECK(loss.item() == Approx((3.0 * 1.0 + 9.0) / 4.0));
  CHECK(loss.weight == 4.0);
  const std::vector<Tensor<double>> gradients = tape.gradients(loss, {losses});
  CHECK(gradients[0](0) == Approx(3.0 / 4.0));
  CHECK(gradients[0](1) == 0.0);
  Tape<double> other;
  const Var<double> constant = other.constant(Tensor<double>({2}, {1.0, 4.0}));
  const WeightedLoss<double> none = weighted_mean(constant, Tensor<double>({2}));
  CHECK(none.item() == 0.0);
  CHECK(none.weight == 0.0);
  CHECK(message_of<ShapeError>([&] { weighted_mean(constant, Tensor<double>({3})); }) ==
        "weighted_mean: weights: expected [2], got [3]");
  CHECK(message_of<ValueError>([&] {
          weighted_mean(constant, Tensor<double>({2}, {1, -2}));
        }) == "weighted_mean: weights: expected a finite number ≥ 0, got -2");
}
