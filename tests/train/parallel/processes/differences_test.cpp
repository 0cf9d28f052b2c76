// What must be the same in all processes, and errors of one of them.
#include <fstream>
#include <functional>

#include <weft/autograd/error.hpp>
#include "autograd/internal/bf16_emulation.hpp"
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

bool is_last() { return test_processes().rank() == test_processes().size() - 1; }
std::string last_name() {
  return str_cat("process ", test_processes().size(), " of ", test_processes().size());
}

std::string message(std::uint64_t seed, std::uint64_t model_seed, std::uint64_t data_seed,
                    double lr = 1e-3) {
  ManyElementsTraining<float> training(model_seed, data_seed);
  AdamW<float> optimizer(training.model, {.lr = lr});
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.max_steps = 1, .parts = 4, .seed = seed, .processes = &test_processes()});
  return message_of<ValueError>([&] { trainer.run(); });
}

// What a training says whose options differ in the last process.
std::string message_with(const std::function<void(TrainerOptions&)>& change,
                         bool keeps_average = false, bool is_observed = false) {
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  TrainerOptions options{.max_steps = 1, .parts = 4, .processes = &test_processes()};
  if (is_last()) change(options);
  Trainer trainer(training.model, optimizer, training.batches, training.loss(), options);
  ExponentialMovingAverage<float> average(training.model);
  if (keeps_average && is_last()) trainer.track_average(average);
  if (is_observed && is_last()) trainer.after_step([](const StepReport&) {});
  return message_of<ValueError>([&] { trainer.run(); });
}

// One parameter, whose name is given.
struct OneParameter final : Module<float> {
  explicit OneParameter(std::string given) : name(std::move(given)) {}
  void members(Members<float>& members) const override {
    members.type("OneParameter");
    members(name, weight);
  }
  std::string name;
  Parameter<float> weight{Tensor<float>({2})};
};

}  // namespace

TEST_CASE("processes: a difference of the options is named", "[processes]") {
  if (test_processes().size() == 1) return;
  const auto check = [](const char* what, const std::string& message) {
    INFO(message);
    CHECK(message.starts_with(str_cat(last_name(), ": ", what, ": expected ")));
  };
  check("accumulation",
        message_with([](TrainerOptions& options) { options.gradient_accumulation_steps = 2; }));
  check("clip_norm", message_with([](TrainerOptions& options) { options.clip_norm = 2.0; }));
  check("epochs", message_with([](TrainerOptions& options) { options.epochs = 7; }));
  check("max_steps", message_with([](TrainerOptions& options) { options.max_steps = 7; }));
  check("max_consecutive_skips",
        message_with([](TrainerOptions& options) { options.max_consecutive_skips = 7; }));
  check("schedule",
        message_with([](TrainerOptions& options) { options.schedule = constant_schedule(0.1); }));
  check("should_stop",
        message_with([](TrainerOptions& options) { options.should_stop = [] { return false; }; }));
  const EmulateBf16 emulation;
  check("precision",
        message_with([](TrainerOptions& options) { options.precision = Precision::bf16; }));
  check("average", message_with([](TrainerOptions&) {}, true));
  check("number of observers", message_with([](TrainerOptions&) {}, false, true));
}

TEST_CASE("processes: models with other names of parameters are refused", "[processes]") {
  if (test_processes().size() == 1) return;
  OneParameter model(is_last() ? "bias" : "weight");
  SGD<float> optimizer(model);
  ManyElementsTraining<float> data;
  Trainer trainer(model, optimizer, data.batches,
                  [&](Tape<float>& tape, const TensorBatch<float>&) {
                    return sum(tape.parameter(model.weight));
                  },
                  {.max_steps = 1, .parts = 4, .processes = &test_processes()});
  CHECK(message_of<ValueError>([&] {
          trainer.run();
        }).starts_with(last_name() + ": names and shapes of the parameters: expected "));
}

TEST_CASE("processes: a difference is noticed before the first step", "[processes]") {
  if (test_processes().size() == 1) return;
  CHECK(message(is_last() ? 8 : 7, 1, 3) ==
        last_name() + ": seed: expected 7, as in process 1, got 8");
  // Also between the first and the last process.
  CHECK(message(test_processes().rank() == 1 ? 8 : 7, 1, 3) ==
        str_cat("process 2 of ", test_processes().size(),
                ": seed: expected 7, as in process 1, got 8"));
  CHECK_THAT(message(7, is_last() ? 2 : 1, 3),
             Catch::Contains(last_name() + ": initial weights: expected "));
  CHECK_THAT(message(7, 1, is_last() ? 4 : 3), Catch::Contains(last_name() + ": data: expected "));
  CHECK_THAT(message(7, 1, 3, is_last() ? 2e-3 : 1e-3),
             Catch::Contains(last_name() + ": optimizer: expected AdamW, lr 0.001"));
}

TEST_CASE("processes: there are as many parts as processes", "[processes]") {
  if (test_processes().size() == 1) return;
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.max_steps = 1, .parts = 1, .processes = &test_processes()});
  CHECK(message_of<ValueError>([&] { trainer.run(); }) ==
        str_cat("trainer: parts: expected at least one part for each of ", test_processes().size(),
                " processes, got 1"));
}

TEST_CASE("processes: what one process throws in a step, all throw", "[processes]") {
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  int calls = 0;
  const auto loss = training.loss();
  const TrainerOptions options{.epochs = 3, .parts = 4, .processes = &test_processes()};
  Trainer trainer(
      training.model, optimizer, training.batches,
      [&](Tape<float>& tape, const TensorBatch<float>& batch) {
        if (is_last() && ++calls == 3) throw Error("loss: expected a number, got none");
        return loss(tape, batch);
      },
      options);
  CHECK(message_of<Error>([&] { trainer.run(); }) ==
        (is_last() ? "" : last_name() + ": ") + "loss: expected a number, got none");

  // The group is ready for another training.
  ManyElementsTraining<float> again;
  AdamW<float> other(again.model);
  CHECK(Trainer(again.model, other, again.batches, again.loss(), options).run().steps == 12);
}

TEST_CASE("processes: a loss that is not finite ends all in the same step", "[processes]") {
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  int calls = 0;
  const auto loss = training.loss();
  Trainer trainer(training.model, optimizer, training.batches,
                  [&](Tape<float>& tape, const TensorBatch<float>& batch) {
                    const Var<float> value = loss(tape, batch);
                    return is_last() && ++calls > 4 ? log(0.0f * value) : value;
                  },
                  {.epochs = 3, .parts = 4, .processes = &test_processes()});
  const std::string text = message_of<NonFiniteError>([&] { trainer.run(); });
  CHECK_THAT(text, Catch::Contains("operation 'log'"));
  const std::vector<std::string> texts = test_processes().all_gather(text);
  for (const std::string& each : texts) CHECK(each == text);
}

TEST_CASE("processes: all skip the step whose loss is not finite in one of them", "[processes]") {
  // The loss of the first part of the second batch is not finite.
  const auto weights_after = [](std::int64_t skips, double factor, ProcessGroup* processes) {
    ManyElementsTraining<float> training;
    AdamW<float> optimizer(training.model);
    const auto loss = training.loss();
    Trainer trainer(
        training.model, optimizer, training.batches,
        [&, first = training.batches.batch(0, 1).inputs.data()[0]](
            Tape<float>& tape, const TensorBatch<float>& batch) {
          const Var<float> value = loss(tape, batch);
          return batch.inputs.data()[0] == first ? scale(value, factor) : value;
        },
        {.max_steps = 3, .parts = 4, .max_consecutive_skips = skips, .processes = processes});
    const TrainingResult result = trainer.run();
    CHECK(result.steps == 3);
    CHECK(result.skipped_steps == (factor > 1.0 ? 1 : 0));
    std::vector<float> weights;
    for (const auto& [name, parameter] : named_parameters(training.model))
      weights.insert(weights.end(), parameter->value().begin(), parameter->value().end());
    return weights;
  };
  const std::vector<float> together = weights_after(1, 1e300, &test_processes());
  CHECK(together == weights_after(1, 1e300, nullptr));
  CHECK(together != weights_after(1, 1.0, nullptr));
}

TEST_CASE("processes: one that stops ends the training of all after the same step", "[processes]") {
  for (int stopping = 0; stopping < test_processes().size(); ++stopping) {
    ManyElementsTraining<float> training;
    AdamW<float> optimizer(training.model);
    int steps = 0;
    Trainer trainer(
        training.model, optimizer, training.batches, training.loss(),
        {.epochs = 9,
         .parts = 4,
         .should_stop = [&] { return ++steps == 3 && test_processes().rank() == stopping; },
         .processes = &test_processes()});
    const TrainingResult result = trainer.run();
    CHECK(result.steps == 3);
    CHECK(result.end == StopReason::stopped_early);
  }
}

TEST_CASE("processes: a signal to one ends the training of all, with its exit status",
          "[processes]") {
  for (int interrupted = 0; interrupted < test_processes().size(); ++interrupted) {
    ManyElementsTraining<float> training;
    AdamW<float> optimizer(training.model);
    const SignalHandler interrupt;
    int steps = 0;
    Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                    {.epochs = 9,
                     .parts = 4,
                     .should_stop =
                         [&] {
                           if (++steps == 2 && test_processes().rank() == interrupted)
                             raise(SIGINT);
                           return false;
                         },
                     .interrupt = &interrupt,
                     .processes = &test_processes()});
    const TrainingResult result = trainer.run();
    CHECK(result.end == StopReason::interrupted);
    CHECK(result.exit_status == 130);
    CHECK((result.steps == 2 || result.steps == 3));
  }
}

TEST_CASE("processes: an error of the first process's files is that of all", "[processes]") {
  const TemporaryFolder own;
  const std::string shared = test_processes().broadcast(own.path().string());
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.parts = 4, .folder = shared + "/file/below", .processes = &test_processes()});
  if (test_processes().is_root()) std::ofstream(shared + "/file") << "text";
  test_processes().broadcast("");
  CHECK_THROWS_AS(trainer.run(), Error);
  CHECK(
      message_of<Error>([] {
        test_processes().broadcast_from_root(
            []() -> std::string { fail<Error>("text", "one", "none"); });
      }) ==
      (test_processes().is_root() ? "" : str_cat("process 1 of ", test_processes().size(), ": ")) +
          "text: expected one, got none");
  CHECK(test_processes().broadcast_from_root(
            [] { return str_cat("text of ", test_processes().rank()); }) == "text of 0");
}
