#include <stdexcept>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/moving_average.hpp>
#include <weft/train/training_observer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

using Events = std::vector<std::string>;

// Writes down what it is told.
struct Recorder : TrainingObserver {
  Recorder(Events& list, std::string given) : events(list), name(std::move(given)) {}
  void begin(const TrainingStart& start) override { add("begin", start.step); }
  void after_step(const StepReport& report) override {
    add(report.is_validated ? "validated step" : "step", report.step);
    steps.push_back(report);
  }
  void after_validation(const ValidationReport& report) override {
    add(report.is_best ? "best" : "validation", report.step);
    validations.push_back(report);
  }
  void end(const TrainingResult& result) override { add("end", result.steps); }
  void fail(const std::exception_ptr&) override { events.push_back(name + "fail"); }
  void add(const char* what, std::int64_t step) {
    events.push_back(str_cat(name, what, ' ', step));
  }

  Events& events;
  std::string name;
  std::vector<StepReport> steps;
  std::vector<ValidationReport> validations;
};

}  // namespace

TEST_CASE("observers: are called in their order, and at the end in reverse", "[train]") {
  ToyTraining<float> toy;
  Events events;
  Recorder a(events, "a "), b(events, "b ");
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 9, .max_steps = 2});
  trainer.observe(a);
  trainer.observe(b);
  trainer.run();
  CHECK(events == Events{"a begin 0", "b begin 0", "a step 1", "b step 1", "a step 2", "b step 2",
                         "b end 2", "a end 2"});
}

TEST_CASE("observers: a step is reported before its validation, with what the update did",
          "[train]") {
  ToyTraining<double> toy;  // 6 batches an epoch
  Events events;
  Recorder recorder(events, "");
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 2, .gradient_accumulation_steps = 2});
  std::vector<double> values{2.0, 3.0};
  trainer.validate_with({.columns = {"error"}, .run = [&] {
                           const double value = values.front();
                           values.erase(values.begin());
                           return std::vector{value};
                         }});
  trainer.observe(recorder);
  std::vector<std::int64_t> seen;
  trainer.after_step([&](const StepReport& report) { seen.push_back(report.step); });
  trainer.run();
  CHECK(events == Events{"begin 0", "step 1", "step 2", "validated step 3", "best 3", "step 4",
                         "step 5", "validated step 6", "validation 6", "end 6"});
  CHECK(seen == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  Index labels = 0;
  for (const StepReport& report : recorder.steps) {
    CHECK(report.epoch == (report.step <= 3 ? 1 : 2));
    CHECK(report.ends_epoch == (report.step % 3 == 0));
    CHECK(report.total_steps == 6);
    CHECK(report.loss > 0.0);
    CHECK(report.grad_norm > 0.0);
    CHECK(report.learning_rate == 0.05);
    CHECK(report.seconds >= report.data_seconds);
    CHECK(report.labels_per_second > 0.0);
    labels += report.labels;
  }
  Index in_epoch = 0;
  for (const SequencePair& pair : ToyTraining<double>::pairs(22))
    in_epoch += std::ssize(pair.target) + 1;  // and <eos>
  CHECK(labels == 2 * in_epoch);
  // The second value is the loss on training batches.
  CHECK(recorder.validations[1].values.size() == 2);
  CHECK(recorder.validations[1].values[0] == 3.0);
  CHECK(recorder.validations[1].best_step == 3);
  CHECK(recorder.validations[1].best_value == 2.0);
}

TEST_CASE("observers: see the averaged parameters that were validated", "[train]") {
  ToyTraining<float> toy;
  ExponentialMovingAverage<float> average(toy.model);
  struct Weights : TrainingObserver {
    explicit Weights(const ToyTraining<float>& given) : toy(given) {}
    void after_validation(const ValidationReport&) override { seen.push_back(toy.values()); }
    const ToyTraining<float>& toy;
    std::vector<std::vector<float>> seen;
  } weights(toy);
  std::vector<std::vector<float>> validated;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.epochs = 2});
  trainer.track_average(average);
  trainer.validate_with({.columns = {"error"}, .run = [&] {
                           validated.push_back(toy.values());
                           return std::vector{1.0};
                         }});
  trainer.observe(weights);
  trainer.run();
  CHECK(weights.seen == validated);
  CHECK(weights.seen.back() != toy.values());
}

TEST_CASE("observers: a run that resumes begins at its step, with its best validation", "[train]") {
  const TemporaryFolder folder;
  for (const bool resume : {false, true}) {
    ToyTraining<float> toy;
    struct Start : TrainingObserver {
      void begin(const TrainingStart& given) override { start = given; }
      TrainingStart start;
    } observer;
    Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                    {.epochs = resume ? 2 : 1,
                     .clip_norm = resume ? 2.0 : 1.0,
                     .folder = folder.path(),
                     .resume = resume});
    trainer.validate_with({.columns = {"error"}, .run = [] { return std::vector{1.5}; }});
    trainer.observe(observer);
    trainer.run();
    CHECK(observer.start.step == (resume ? 6 : 0));
    CHECK(observer.start.best_step == (resume ? 6 : 0));
    CHECK(observer.start.best_value == (resume ? 1.5 : 0.0));
    CHECK(observer.start.columns == std::vector<std::string>{"error", "training_loss"});
    CHECK(observer.start.changes.size() == (resume ? 1U : 0U));
  }
}

TEST_CASE("observers: an exception ends the training, and all observers are told", "[train]") {
  const TemporaryFolder folder;
  ToyTraining<float> toy;
  Events events;
  struct Thrower : Recorder {
    using Recorder::Recorder;
    void after_step(const StepReport& report) override {
      Recorder::after_step(report);
      if (report.step == 2) throw std::runtime_error("enough");
    }
    void fail(const std::exception_ptr& error) override {
      Recorder::fail(error);
      throw std::runtime_error("not this one");
    }
  };
  Recorder a(events, "a ");
  Thrower b(events, "b ");
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 9, .folder = folder.path()});
  trainer.observe(a);
  trainer.observe(b);
  CHECK(message_of<std::runtime_error>([&] { trainer.run(); }) == "enough");
  CHECK(events == Events{"a begin 0", "b begin 0", "a step 1", "b step 1", "a step 2", "b step 2",
                         "b fail", "a fail"});
}

TEST_CASE("observers: are not called if the training cannot begin", "[train]") {
  const TemporaryFolder folder;
  ToyTraining<float> toy;
  const auto run = [&](TrainingObserver* observer) {
    Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                    {.max_steps = 1, .folder = folder.path()});
    if (observer) trainer.observe(*observer);
    trainer.run();
  };
  run(nullptr);
  Events events;
  Recorder recorder(events, "");
  CHECK_THROWS_AS(run(&recorder), FileError);  // there are checkpoints
  CHECK(events.empty());
}

TEST_CASE("observers: an empty function throws", "[train]") {
  ToyTraining<float> toy;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {});
  CHECK_THROWS_AS(trainer.after_step({}), ValueError);
}
