// The trainer's checkpoints: a resumed training ends bitwise identical to an uninterrupted one.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <limits>
#include <sstream>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"
#include "train/files/internal/file_descriptor.hpp"

using namespace weft;

namespace {

// metrics.csv without the column that depends on the clock.
std::string metrics_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "metrics.csv");
  std::string text, line;
  while (std::getline(file, line)) {
    std::istringstream columns(line);
    std::string column;
    for (int i = 0; std::getline(columns, column, ','); ++i)
      if (i != 5) text += column + ",";
    text += "\n";
  }
  return text;
}

// Three epochs of 6 batches, with every option that has state.
TrainerOptions options_for(const std::filesystem::path& folder) {
  return {.epochs = 4,
          .max_steps = 9,
          .gradient_accumulation_steps = 2,
          .parts = 2,
          .clip_norm = 0.5,
          .schedule = warmup_cosine_schedule({.peak = 0.05, .warmup_steps = 2, .total_steps = 9}),
          .seed = 17,
          .folder = folder,
          .resume = true,
          .save_every_steps = 2,
          .log_every_steps = 2};
}

// A toy training whose validation values go up and down.
struct Session {
  ToyTraining<float> toy;
  TrainerOptions options;
  std::int64_t patience = 0;

  explicit Session(const std::filesystem::path& folder) : options(options_for(folder)) {}

  double validation_value() const {
    const std::int64_t step = toy.optimizer.steps();
    return step == 4 ? 1.0 : 2.0 + 0.1 * static_cast<double>(step);
  }

  TrainingResult run(const LossFunction<float, PairBatch>& loss) {
    Trainer trainer(toy.model, toy.optimizer, toy.batches, loss, options);
    trainer.validate_with({.columns = {"val_loss"},
                           .run = [this] { return std::vector{validation_value()}; },
                           .every_steps = 2,
                           .patience = patience});
    return trainer.run();
  }
  TrainingResult run() { return run(toy.loss_function()); }
};

struct Outcome {
  std::vector<float> values;
  std::string metrics;
  std::string last;
  std::string best;
};

Outcome outcome(const Session& session) {
  const std::filesystem::path& folder = session.options.folder;
  return {session.toy.values(), metrics_of(folder), bytes_of(folder / "last.h5"),
          bytes_of(folder / "best.h5")};
}

void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.values == b.values);
  CHECK(a.metrics == b.metrics);
  CHECK((a.last == b.last));
  CHECK((a.best == b.best));
}

Outcome uninterrupted_outcome() {
  const TemporaryFolder folder;
  Session session(folder.path());
  CHECK(session.run().steps == 9);
  return outcome(session);
}

}  // namespace

TEST_CASE("resuming: after Ctrl-C at any step, results are bitwise identical", "[train]") {
  const Outcome expected = uninterrupted_outcome();
  for (std::int64_t stop : {0, 1, 2, 3, 4, 5, 8}) {
    INFO("stopped after step " << stop);
    const TemporaryFolder folder;
    {
      const SignalHandler interrupt;
      Session session(folder.path());
      session.options.interrupt = &interrupt;
      if (stop == 0) std::raise(SIGINT);
      std::atomic_flag raised;
      const auto result = session.run([&](Tape<float>& tape, const PairBatch& batch) {
        // Once, whichever part comes first.
        if (tape.training() && session.toy.optimizer.steps() == stop - 1 && !raised.test_and_set())
          std::raise(SIGINT);
        return session.toy.loss(tape, batch);
      });
      CHECK(result.end == StopReason::interrupted);
      CHECK(result.steps == stop);
      CHECK(std::filesystem::exists(folder / "last.h5"));
    }
    Session session(folder.path());
    CHECK(session.run().steps == 9);
    check_same(outcome(session), expected);
  }
}

TEST_CASE("resuming: after a kill at any batch, results are bitwise identical", "[train]") {
  const Outcome expected = uninterrupted_outcome();
  for (int killed_at : {0, 1, 6, 9, 13}) {
    INFO("killed at batch " << killed_at);
    const TemporaryFolder folder;
    const pid_t child = fork();
    if (child == 0) {
      set_thread_count(1);
      Session session(folder.path());
      int batches = 0;
      session.run([&](Tape<float>& tape, const PairBatch& batch) {
        if (batches++ == killed_at) std::raise(SIGKILL);
        return session.toy.loss(tape, batch);
      });
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    Session session(folder.path());
    CHECK(session.run().steps == 9);
    check_same(outcome(session), expected);
  }
}

TEST_CASE("resuming: a finished training is unchanged", "[train]") {
  const TemporaryFolder folder;
  Session first(folder.path());
  const TrainingResult ended = first.run();
  const Outcome expected = outcome(first);
  Session second(folder.path());
  const TrainingResult again = second.run();
  CHECK(again.end == StopReason::finished);
  CHECK(again.steps == ended.steps);
  CHECK(again.best_step == 4);
  CHECK(again.best_value == 1.0);
  check_same(outcome(second), expected);
}

TEST_CASE("resuming: patience is resumed", "[train]") {
  const TemporaryFolder folder;
  const auto run = [&](std::int64_t max_steps) {
    Session session(folder.path());
    session.options.max_steps = max_steps;
    session.patience = 3;
    return session.run();
  };
  CHECK(run(7).end == StopReason::finished);
  const TrainingResult result = run(0);
  CHECK(result.end == StopReason::stopped_early);
  CHECK(result.steps == 10);
  CHECK(result.best_step == 4);
}

TEST_CASE("resuming: another seed or other data throw, and the model is unchanged", "[train]") {
  const TemporaryFolder folder;
  Session(folder.path()).run();
  {
    Session session(folder.path());
    session.options.seed = 18;
    CHECK(contains(message_of<ValueError>([&] { session.run(); }),
                   "training progress: seed: expected 18, got 17"));
    CHECK(session.toy.values() == ToyTraining<float>().values());
  }
  ToyTraining<float> other(23);
  CHECK(contains(message_of<ValueError>([&] {
                   Trainer(other.model, other.optimizer, other.batches, other.loss_function(),
                           options_for(folder.path()))
                       .run();
                 }),
                 "training progress: data: expected the examples"));
}

TEST_CASE("resuming: another optimizer or a damaged file throw", "[train]") {
  const TemporaryFolder folder;
  Session(folder.path()).run();
  ToyTraining<float> toy;
  Adam<float> adam(toy.model);
  const auto run = [&] {
    Trainer(toy.model, adam, toy.batches, toy.loss_function(), options_for(folder.path())).run();
  };
  CHECK(
      contains(message_of<ValueError>(run), "expected the state of Adam, got the state of AdamW"));
  std::filesystem::resize_file(folder / "last.h5", 1000);
  CHECK_THROWS_AS(run(), FileError);
  CHECK(std::filesystem::file_size(folder / "last.h5") == 1000);
}

TEST_CASE("trainer: another schedule on resuming is reported", "[train]") {
  const TemporaryFolder folder;
  Session(folder.path()).run();
  Session session(folder.path());
  std::ostringstream output;
  session.options.output = &output;
  session.options.schedule = constant_schedule(0.5);
  session.run();
  CHECK(contains(output.str(),
                 "the schedule was 'warmup and cosine, peak 0.05, warmup_steps 2, "
                 "total_steps 9, final 0' and is now 'constant, lr 0.5'"));
}

namespace {

// A training of the toy model in a folder, until a step. Returns the rate of its last step, and
// what it has written.
struct Resumed {
  double learning_rate;
  std::string output;
};
Resumed train_until(std::int64_t step, const std::filesystem::path& folder,
                    const AdamWOptions& settings, TrainerOptions options = {}) {
  std::ostringstream output;
  ToyTraining<float> toy;
  AdamW<float> optimizer(toy.model, settings);
  options.epochs = 100;
  options.max_steps = step;
  options.folder = folder;
  options.resume = true;
  options.output = &output;
  Trainer trainer(toy.model, optimizer, toy.batches, toy.loss_function(), options);
  trainer.validate_with(
      {.columns = {"val_loss"}, .run = [] { return std::vector{1.0}; }, .every_steps = 2});
  trainer.run();
  return {optimizer.learning_rate(), output.str()};
}

}  // namespace

TEST_CASE("trainer: the optimizer's settings of a resumed training count, and changes are said",
          "[train]") {
  const TemporaryFolder folder;
  train_until(3, folder.path(), {.lr = 0.05});
  CHECK_FALSE(contains(train_until(4, folder.path(), {.lr = 0.05}).output, "is now"));
  const Resumed other_rate = train_until(5, folder.path(), {.lr = 0.01});
  CHECK(other_rate.learning_rate == Approx(0.01).epsilon(1e-12));
  CHECK(contains(other_rate.output, "the optimizer was 'AdamW, lr 0.05, betas 0.9 and 0.999"));
  CHECK(contains(other_rate.output, "' and is now 'AdamW, lr 0.01, betas 0.9 and 0.999"));
  CHECK(contains(bytes_of(folder / "run.json"), "\"optimizer\":\"AdamW, lr 0.01, "));
  CHECK(contains(bytes_of(folder / "run.json"),
                 "\"changes\":[\"the optimizer was 'AdamW, lr 0.05, "));
  AdamWOptions settings{.lr = 0.01, .beta2 = 0.99};
  CHECK(contains(train_until(6, folder.path(), settings).output, "the optimizer was"));
  settings.weight_decay = 0.5;
  CHECK(contains(train_until(7, folder.path(), settings).output, "the optimizer was"));
  const Resumed clipped = train_until(8, folder.path(), settings, {.parts = 2, .clip_norm = 0.5});
  CHECK(contains(clipped.output, "the clip_norm was 'inf' and is now '0.5'"));
  CHECK(contains(clipped.output, "the parts was 'chosen by sizes' and is now '2'"));
  CHECK_FALSE(contains(clipped.output, "the optimizer was"));
}

TEST_CASE("trainer: a plateau's factor remains with another lr on resuming", "[train]") {
  const TemporaryFolder folder;
  const TrainerOptions options{.plateau = Plateau{.factor = 0.5, .patience = 0}};
  // Validations that are all 1: lowered at steps 4, 6 and 8.
  CHECK(train_until(5, folder.path(), {.lr = 0.08}, options).learning_rate == 0.04);
  CHECK(train_until(6, folder.path(), {.lr = 0.08}, options).learning_rate == 0.02);
  CHECK(train_until(7, folder.path(), {.lr = 0.16}, options).learning_rate == 0.04);
  CHECK(contains(bytes_of(folder / "run.json"), "\"optimizer\":\"AdamW, lr 0.16, "));
}

TEST_CASE("trainer: reports say the optimizer's lr, not the schedule's rate, after resuming",
          "[train]") {
  const TemporaryFolder folder;
  const TrainerOptions options{
      .schedule = warmup_cosine_schedule({.peak = 0.05, .warmup_steps = 2, .total_steps = 9})};
  for (const std::int64_t step : {3, 6}) {
    const Resumed run = train_until(step, folder.path(), {.lr = 0.05}, options);
    CHECK(run.learning_rate == Approx((*options.schedule)(step)));
    CHECK_FALSE(contains(run.output, "is now"));
    CHECK(contains(bytes_of(folder / "run.json"), "\"optimizer\":\"AdamW, lr 0.05, "));
  }
  // Without the schedule, the lr counts, not the schedule's last rate.
  const Resumed without = train_until(7, folder.path(), {.lr = 0.05});
  CHECK(without.learning_rate == 0.05);
  CHECK(contains(without.output, "and is now 'the optimizer's learning rate'"));
}

TEST_CASE("trainer: checkpoints of an earlier training are not overwritten", "[train]") {
  const TemporaryFolder folder;
  Session(folder.path()).run();
  const std::string before = bytes_of(folder / "last.h5");
  Session session(folder.path());
  session.options.resume = false;
  CHECK(contains(message_of<FileError>([&] { session.run(); }),
                 "expected a directory without checkpoints unless `resume` is set"));
  CHECK((bytes_of(folder / "last.h5") == before));
}

TEST_CASE("trainer: a directory in use, or none, throws before the first step", "[train]") {
  const TemporaryFolder folder;
  Session session(folder.path());
  int steps = 0;
  const auto loss = [&](Tape<float>& tape, const PairBatch& batch) {
    ++steps;
    return session.toy.loss(tape, batch);
  };
  {
    const FileDescriptor lock = lock_directory(folder.path());
    CHECK_THROWS_AS(session.run(loss), FileError);
  }
  std::ofstream(folder / "file") << "not a directory";
  session.options.folder = folder / "file";
  CHECK_THROWS_AS(session.run(loss), FileError);
  session.options.folder = folder / "file" / "below";
  CHECK_THROWS_AS(session.run(loss), FileError);
  CHECK(steps == 0);
}

TEST_CASE("trainer: register_for_checkpointing adds an object to both checkpoints", "[train]") {
  struct Note final : Stateful<float> {
    std::string text;
    void state(State<float>& state) override { state.text("text", text); }
  };
  const TemporaryFolder folder;
  Session session(folder.path());
  Note note;
  note.text = "as configured";
  Trainer trainer(session.toy.model, session.toy.optimizer, session.toy.batches,
                  session.toy.loss_function(), session.options);
  for (const char* name : {"", "a/b", "a..b", "model", "optimizer", "progress"})
    CHECK_THROWS_AS(trainer.register_for_checkpointing(name, note), ValueError);
  trainer.register_for_checkpointing("note", note);
  trainer.validate_with({.columns = {"val_loss"}, .run = [] { return std::vector{1.0}; }});
  CHECK(message_of<ValueError>([&] { trainer.register_for_checkpointing("note", note); }) ==
        "trainer: register_for_checkpointing: expected an unused name, got 'note'");
  trainer.run();
  for (const char* name : {"best.h5", "last.h5"}) {
    Note found;
    load_state(folder / name, "note", found);
    CHECK(found.text == "as configured");
  }
}

TEST_CASE("trainer: a NaN leaves the last checkpoint unchanged", "[train]") {
  const TemporaryFolder folder;
  Session session(folder.path());
  const auto loss = [&](Tape<float>& tape, const PairBatch& batch) {
    if (session.toy.optimizer.steps() < 5) return session.toy.loss(tape, batch);
    const auto nan = Tensor<float>::full({1, 9}, std::numeric_limits<float>::quiet_NaN());
    return cross_entropy(linear(tape.constant(nan), tape.parameter(session.toy.model.weight)),
                         Tokens({1}, {0}));
  };
  CHECK(contains(message_of<NonFiniteError>([&] { session.run(loss); }), "step 6: operation"));
  Session resumed(folder.path());
  CHECK(resumed.run().steps == 9);
  check_same(outcome(resumed), uninterrupted_outcome());
}

TEST_CASE("trainer: parameters that became infinite are not saved", "[train]") {
  const TemporaryFolder folder;
  Session session(folder.path());
  session.options.schedule =
      Schedule("too much", [](std::int64_t step) { return step < 4 ? 0.01 : 3e38; });
  CHECK_THROWS_AS(session.run(), NonFiniteError);
  Session resumed(folder.path());
  CHECK(resumed.run().steps == 9);
}

TEST_CASE("trainer: a full disk throws, and the earlier checkpoint is unchanged", "[train]") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    set_thread_count(1);
    std::signal(SIGXFSZ, SIG_IGN);
    Session session(folder.path());
    int exit_status = 0;
    try {
      session.run([&](Tape<float>& tape, const PairBatch& batch) {
        if (session.toy.optimizer.steps() == 5) {
          const rlimit none{1000, 1000};
          setrlimit(RLIMIT_FSIZE, &none);
        }
        return session.toy.loss(tape, batch);
      });
    } catch (const FileError&) {
      exit_status = 7;
    }
    _exit(exit_status);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  Session session(folder.path());
  CHECK(session.run().steps == 9);
  check_same(outcome(session), uninterrupted_outcome());
}
