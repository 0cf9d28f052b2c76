// Training that is resumed with another validation, metric, plateau or average.
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <weft/train/moving_average.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

// A training of the toy model, resumed in parts with other validations, plateaus and averages.
struct Part {
  std::int64_t last = 0;  // the last step
  std::vector<std::string> columns = {};
  std::optional<double> decay = {};
  std::optional<Plateau> plateau = {};
  double value = 1.0;  // of validations
};

struct PartResult {
  TrainingResult result;
  std::string output;
  std::int64_t updates = 0;
};

PartResult train_part(const std::filesystem::path& folder, const Part& part) {
  std::ostringstream output;
  ToyTraining<float> toy;
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.epochs = 100,
                   .max_steps = part.last,
                   .plateau = part.plateau,
                   .folder = folder,
                   .resume = true,
                   .output = &output});
  std::optional<ExponentialMovingAverage<float>> average;
  if (part.decay) trainer.track_average(average.emplace(toy.model, *part.decay));
  if (!part.columns.empty())
    trainer.validate_with({.columns = part.columns,
                           .run = [&] { return std::vector(part.columns.size(), part.value); },
                           .every_steps = 2});
  const TrainingResult result = trainer.run();
  return {result, output.str(), average ? average->updates() : 0};
}

}  // namespace

TEST_CASE("resuming: an average may be added and left out, and both are reported", "[train]") {
  const TemporaryFolder folder;
  CHECK_FALSE(contains(train_part(folder.path(), {.last = 2}).output, "average"));
  const PartResult added = train_part(folder.path(), {.last = 5, .decay = 0.5});
  CHECK(added.updates == 3);
  CHECK(contains(added.output, "the average was 'none' and is now 'decay 0.5'"));
  const PartResult other = train_part(folder.path(), {.last = 6, .decay = 0.25});
  CHECK(other.updates == 4);
  CHECK(contains(other.output, "the average was 'decay 0.5' and is now 'decay 0.25'"));
  const PartResult left_out = train_part(folder.path(), {.last = 7});
  CHECK(contains(left_out.output, "the average was 'decay 0.25' and is now 'none'"));
  CHECK(contains(bytes_of(folder / "run.json"), "the average was 'decay 0.25' and is now 'none'"));
  CHECK(contains(train_part(folder.path(), {.last = 8, .decay = 0.25}).output,
                 "the average was 'none' and is now 'decay 0.25'"));
}

TEST_CASE("resuming: a validation, a metric or a plateau may be added and left out", "[train]") {
  const TemporaryFolder folder;
  train_part(folder.path(), {.last = 2});
  const PartResult validated = train_part(folder.path(), {.last = 4, .columns = {"loss_a"}});
  CHECK(contains(validated.output, "the validation was 'none' and is now 'loss_a, every 2 steps'"));
  CHECK(validated.result.best_step == 4);
  const PartResult metric =
      train_part(folder.path(), {.last = 6, .columns = {"loss_a", "error"}, .value = 2.0});
  CHECK(contains(metric.output, "is now 'loss_a, error, every 2 steps'"));
  CHECK(metric.result.best_step == 4);
  const PartResult lowered =
      train_part(folder.path(), {.last = 8,
                                 .columns = {"loss_a", "error"},
                                 .plateau = Plateau{.factor = 0.5, .patience = 0},
                                 .value = 2.0});
  CHECK(contains(lowered.output, "the plateau was 'none' and is now '× 0.5 after more than 0"));
  CHECK(train_part(folder.path(), {.last = 10}).result.best_step == 4);
  CHECK(contains(bytes_of(folder / "metrics.csv"), ",loss_a,error,training_loss\n"));
}

TEST_CASE("resuming: values of different names do not compete for the best model", "[train]") {
  const TemporaryFolder folder;
  train_part(folder.path(), {.last = 4, .columns = {"loss_a"}, .value = 0.5});
  const PartResult other =
      train_part(folder.path(), {.last = 6, .columns = {"error", "loss_a"}, .value = 7.0});
  CHECK(contains(other.output,
                 "best.h5 of step 2 was chosen by loss_a; only later validations will determine "
                 "the best model"));
  CHECK(other.result.best_step == 6);
  CHECK(other.result.best_value == 7.0);
  CHECK_FALSE(
      contains(train_part(folder.path(), {.last = 8, .columns = {"error"}, .value = 8.0}).output,
               "was chosen"));
}

TEST_CASE("resuming: a plateau begins anew with values of another name", "[train]") {
  const TemporaryFolder folder;
  const auto lowers = [&](std::int64_t last, const std::string& column, double value) {
    const PartResult part = train_part(
        folder.path(),
        {.last = last, .columns = {column}, .plateau = Plateau{.patience = 0}, .value = value});
    return contains(part.output, "no improvement");
  };
  CHECK_FALSE(lowers(2, "loss_a", 0.5));
  CHECK_FALSE(lowers(4, "error", 7.0));
  CHECK(lowers(6, "error", 7.0));
}
