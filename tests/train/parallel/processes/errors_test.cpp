// What one process throws, wherever it does, is an error of all.
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

using Batch = TensorBatch<float>;

// Another source, with something to do before each batch.
class HookedSource final : public DataSource<Batch> {
 public:
  HookedSource(DataSource<Batch>& source, std::function<void()> before_batch)
      : source_(source), before_batch_(std::move(before_batch)) {}
  Index num_batches() const override { return source_.num_batches(); }
  Batch batch(std::int64_t epoch, Index position) override {
    before_batch_();
    return source_.batch(epoch, position);
  }
  std::uint64_t fingerprint() const override { return source_.fingerprint(); }

 private:
  DataSource<Batch>& source_;
  std::function<void()> before_batch_;
};

// What `action` throws, and "none" for nothing.
std::string thrown_by(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  } catch (int number) {
    return str_cat("the number ", number);
  }
  return "none";
}

// Trains until process `failing` throws, in the third step or after it, at a place; returns what
// this process caught.
std::string caught(const std::string& place, int failing) {
  ProcessGroup& processes = test_processes();
  const bool fails = processes.rank() == failing;
  std::int64_t steps = 0;
  const auto at = [&](const std::string& here) {
    if (fails && here == place && steps == 2) throw Error(place + ": expected one, got none");
  };
  const TemporaryFolder own;
  TrainerOptions options{.epochs = 3, .parts = 4, .clip_norm = 1.0, .processes = &processes};
  options.schedule = Schedule("with a failure", [&](std::int64_t) {
    at("schedule");
    return 1e-3;
  });
  options.should_stop = [&] {
    ++steps;
    at("should_stop");
    if (fails && place == "checkpoint" && steps == 2)
      std::filesystem::rename(own / "checkpoints", own / "moved");
    return false;
  };
  if (place == "checkpoint") {
    options.folder = own / "checkpoints";
    options.save_every_steps = 1;
    options.save_in_background = true;
  }
  if (fails && place == "trainer: parts") options.parts = processes.size() - 1;

  ManyElementsTraining<float> training;
  AdamW<float> optimizer(training.model);
  HookedSource source(training.batches, [&] { at("source"); });
  const auto loss = training.loss();
  Trainer trainer(
      training.model, optimizer, source,
      [&](Tape<float>& tape, const Batch& batch) {
        if (tape.training()) at("loss");
        if (fails && place == "int" && steps == 2) throw 7;
        return loss(tape, batch);
      },
      options);
  TensorBatches<float> held_out(ManyElementsTraining<float>::inputs(8),
                                ManyElementsTraining<float>::targets(8), {.batch_size = 3});
  HookedSource validation(held_out, [&] { at("validation"); });
  trainer.validate_on(validation, {.every_steps = 1}, {{"metric", [&](Tape<float>&, const Batch&) {
                                                          at("metric");
                                                          return 1.0;
                                                        }}});
  const std::string text = thrown_by([&] { trainer.run(); });
  // All have the weights of the same step.
  const std::vector<std::string> weights = processes.all_gather(
      std::to_string(std::hash<std::string>()(bytes_of_parameters(training.model))));
  if (place != "schedule") CHECK(std::set(weights.begin(), weights.end()).size() == 1);
  return text;
}

}  // namespace

TEST_CASE("processes: what one process throws anywhere in a training, all throw", "[processes]") {
  ProcessGroup& processes = test_processes();
  if (processes.size() == 1) return;
  for (int failing = 0; failing < processes.size(); ++failing)
    for (const char* place : {"trainer: parts", "source", "loss", "int", "schedule", "validation",
                              "metric", "should_stop", "checkpoint"}) {
      if (place == std::string("checkpoint") && failing != 0) continue;  // only the first one saves
      // Between the first and the last one, one place for all.
      if (place != std::string("loss") && failing != 0 && failing != processes.size() - 1) continue;
      INFO(place << " in process " << failing + 1);
      const std::string text = caught(place, failing);
      INFO(text);
      const std::string process = str_cat("process ", failing + 1, " of ", processes.size(), ": ");
      if (processes.rank() != failing)
        CHECK(text.starts_with(process));
      else if (place == std::string("int"))
        CHECK(text == "the number 7");
      else if (place == std::string("checkpoint"))
        CHECK(text.find("/checkpoints") != text.npos);
      else
        CHECK(text.starts_with(str_cat(place, ": expected ")));
    }
}

TEST_CASE("processes: an error is one of all even where it is caught", "[processes]") {
  ProcessGroup& processes = test_processes();
  if (processes.size() == 1) return;
  for (int failing = 0; failing < processes.size(); ++failing) {
    std::string inner;
    const std::string text = thrown_by([&] {
      processes.run_collectively([&] {
        if (processes.rank() == failing) throw Error("sum: expected a number, got none");
        inner = thrown_by([&] { processes.all_gather("x"); });
        // Nothing goes on before all have left.
        CHECK(thrown_by([&] { processes.broadcast("y"); }) == inner);
      });
    });
    if (processes.rank() == failing) {
      CHECK(text == "sum: expected a number, got none");
    } else {
      CHECK(text == str_cat("process ", failing + 1, " of ", processes.size(),
                            ": sum: expected a number, got none"));
      CHECK(inner == text);
    }
    CHECK(processes.all_gather("z") ==
          std::vector<std::string>(static_cast<std::size_t>(processes.size()), "z"));
  }
}

TEST_CASE("processes: an error of any one, even without a message, is one of all", "[processes]") {
  ProcessGroup& processes = test_processes();
  if (processes.size() == 1) return;
  for (int failing = 0; failing < processes.size(); ++failing) {
    const std::string text = thrown_by([&] {
      processes.run_collectively([&] {
        if (processes.rank() == failing) throw Error("");
      });
    });
    CHECK(text == (processes.rank() == failing
                       ? ""
                       : str_cat("process ", failing + 1, " of ", processes.size(),
                                 ": an exception without a message")));
  }
}

TEST_CASE("processes: an error of any process in an evaluation is one of all", "[processes]") {
  ProcessGroup& processes = test_processes();
  if (processes.size() == 1) return;
  for (int failing = 0; failing < processes.size(); ++failing) {
    ManyElementsTraining<float> training;
    const std::string text = thrown_by([&] {
      mean_metric<float, Batch>(
          training.batches,
          [&](Tape<float>&, const Batch&) {
            if (processes.rank() == failing) throw Error("metric: expected one, got none");
            return 1.0;
          },
          1, &processes);
    });
    CHECK(text.ends_with("metric: expected one, got none"));
  }
}
