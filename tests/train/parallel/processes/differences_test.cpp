// What must be the same in all processes, and errors of one of them.
#include <fstream>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

bool is_last() { return test_processes().rank() == test_processes().size() - 1; }
std::string last_name() {
  return concatenate_text("process ", test_processes().size(), " of ", test_processes().size());
}

std::string message(std::uint64_t seed, std::uint64_t model_seed, std::uint64_t data_seed,
                    double lr = 1e-3) {
  ManyElementsTraining<float> training(model_seed, data_seed);
  AdamW<float> optimizer(training.model, {.lr = lr});
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.max_steps = 1, .parts = 4, .seed = seed, .processes = &test_processes()});
  return message_of<ValueError>([&] { trainer.run(); });
}

}  // namespace

TEST_CASE("processes: a difference is noticed before the first step", "[processes]") {
  if (test_processes().size() == 1) return;
  CHECK(message(is_last() ? 8 : 7, 1, 3) ==
        last_name() + ": seed: expected 7 as in the first process, got 8");
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
                  {.max_steps = 1, .processes = &test_processes()});
  CHECK(message_of<ValueError>([&] { trainer.run(); }) ==
        concatenate_text("trainer: parts: expected at least one for each of ",
                         test_processes().size(), " processes, got 1"));
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
  const std::vector<std::string> texts = test_processes().gather(text);
  for (const std::string& each : texts) CHECK(each == text);
}

TEST_CASE("processes: one that stops ends the training of all after the same step", "[processes]") {
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  int steps = 0;
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.epochs = 9,
                   .parts = 4,
                   .should_stop = [&] { return ++steps == 3 && is_last(); },
                   .processes = &test_processes()});
  const TrainingResult result = trainer.run();
  CHECK(result.steps == 3);
  CHECK(result.end == TrainingEnd::stopped_early);
}

TEST_CASE("processes: a signal to one ends the training of all, with its exit status",
          "[processes]") {
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  const Interrupt interrupt;
  int steps = 0;
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.epochs = 9,
                   .parts = 4,
                   .should_stop =
                       [&] {
                         if (++steps == 2 && is_last()) raise(SIGINT);
                         return false;
                       },
                   .interrupt = &interrupt,
                   .processes = &test_processes()});
  const TrainingResult result = trainer.run();
  CHECK(result.end == TrainingEnd::interrupted);
  CHECK(result.exit_status == 130);
  CHECK((result.steps == 2 || result.steps == 3));
}

TEST_CASE("processes: an error of the first process's files is that of all", "[processes]") {
  const TemporaryFolder own;
  const std::string shared = test_processes().broadcast(own.path().string());
  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                  {.parts = 4, .folder = shared + "/file/below", .processes = &test_processes()});
  if (test_processes().is_first()) std::ofstream(shared + "/file") << "text";
  test_processes().broadcast("");
  CHECK_THROWS_AS(trainer.run(), Error);
  CHECK(message_of<Error>([] {
          test_processes().from_first([]() -> std::string { fail<Error>("text", "one", "none"); });
        }) == (test_processes().is_first()
                   ? ""
                   : concatenate_text("process 1 of ", test_processes().size(), ": ")) +
                  "text: expected one, got none");
  CHECK(test_processes().from_first(
            [] { return concatenate_text("text of ", test_processes().rank()); }) == "text of 0");
}
