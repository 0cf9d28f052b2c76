#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/training_progress.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/earlier_checkpoint.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

// Returns for each validation whether it reduces the learning rate.
std::vector<bool> reductions(const Plateau& plateau, const std::vector<double>& validations) {
  TrainingProgress<float> progress(TrainingIdentity{});
  std::vector<bool> reduces;
  for (const double value : validations) reduces.push_back(progress.add_validation(value, plateau));
  return reduces;
}

}  // namespace

TEST_CASE("training progress: counts that training could not add to are refused", "[train]") {
  using Progress = TrainingProgress<float>;
  for (std::int64_t Progress::*count :
       {&Progress::step, &Progress::epoch, &Progress::batch, &Progress::micro_step,
        &Progress::best_step, &Progress::validations_without_improvement,
        &Progress::plateau_validations, &Progress::plateau_cooldown, &Progress::skipped_steps,
        &Progress::consecutive_skips}) {
    Progress progress(TrainingIdentity{});
    progress.*count = std::int64_t{1} << 60;
    progress.check_state();
    for (const std::int64_t wrong : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
      progress.*count = wrong;
      CHECK_THROWS_AS(progress.check_state(), ValueError);
    }
  }
}

TEST_CASE("training progress: values that no training has are refused", "[train]") {
  using Progress = TrainingProgress<float>;
  const auto message_with = [](double Progress::*value, double wrong) {
    Progress progress(TrainingIdentity{});
    progress.plateau_best = 0.0;
    progress.*value = wrong;
    return message_of<ValueError>([&] { progress.check_state(); });
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(message_with(&Progress::plateau_factor, 1.5) ==
        "training progress: plateau: expected a factor from 0 to 1 and a finite best value, got "
        "1.5 and 0");
  CHECK(contains(message_with(&Progress::plateau_factor, -0.5), "got -0.5 and 0"));
  CHECK(contains(message_with(&Progress::plateau_best, infinity), "got 1 and inf"));
  CHECK(message_with(&Progress::loss_sum, infinity) ==
        "training progress: expected a finite best_value and loss_sum, got 0 and inf");
  CHECK(contains(message_with(&Progress::best_value, -infinity), "got -inf and 0"));
  for (const double wrong : {-1.0, infinity})
    CHECK(contains(message_with(&Progress::label_sum, wrong),
                   "training progress: label_sum: expected a finite number ≥ 0, got "));
}

TEST_CASE("training progress: NaN and infinity are never the best value", "[train]") {
  TrainingProgress<float> progress(TrainingIdentity{});
  progress.step = 1;
  CHECK_FALSE(progress.add_validation(std::numeric_limits<double>::quiet_NaN(), true));
  CHECK_FALSE(progress.add_validation(-std::numeric_limits<double>::infinity(), true));
  CHECK(progress.best_step == 0);
  CHECK(progress.validations_without_improvement == 2);
  CHECK(progress.add_validation(2.0, true));
  CHECK(progress.best_value == 2.0);
}

TEST_CASE(
    "training progress: the threshold of a plateau is relative to the best value, above and below "
    "0",
    "[train]") {
  const Plateau plateau{.patience = 0, .threshold = 0.125};
  CHECK(reductions(plateau, {8.0, 7.5, 6.5}) == std::vector{false, true, false});
  // A value must be below -8 - 1.
  CHECK(reductions(plateau, {-8.0, -8.5, -9.5}) == std::vector{false, true, false});
  CHECK(reductions(plateau, {1.0, -8.0, -8.5}) == std::vector{false, false, true});
}

TEST_CASE(
    "training progress: a plateau ends with a value below the best by both the threshold and "
    "min_delta",
    "[train]") {
  const Plateau plateau{.patience = 0, .threshold = 0.125, .min_delta = 2.0};
  CHECK(reductions(plateau, {8.0, 6.5, 5.5}) == std::vector{false, true, false});
  CHECK(reductions(plateau, {-32.0, -35.0, -37.0}) == std::vector{false, true, false});
}

TEST_CASE("training progress: is loaded from a checkpoint of weft 0.2", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model({2, 3}, {3});
  TrainingProgress<float> written(TrainingIdentity{.seed = 3}),
      progress(TrainingIdentity{.seed = 3});
  written.step = 70;
  written.best_value = 0.5;
  written.label_sum = 12.0;
  save_checkpoint(folder / "old.h5", model, {{"progress", written}});
  const auto left_out = make_earlier(
      folder / "old.h5",
      [](const std::string& path) {
        return contains(path, "plateau") || contains(path, "skip") || contains(path, "label_sum") ||
               contains(path, "settings") || contains(path, "best_column");
      },
      [](Hdf5Writer& writer) {
        writer.value("progress/label_sum", std::int64_t{12});
        writer.value("progress/schedule", std::string("constant"));
      });
  CHECK(left_out.size() == 9);
  progress.plateau_factor = 0.25;
  progress.settings = "kept";
  load_checkpoint(folder / "old.h5", model, {{"progress", progress}});
  CHECK(progress.step == 70);
  CHECK(progress.best_value == 0.5);
  CHECK(progress.label_sum == 12.0);
  CHECK(progress.plateau_factor == 0.25);
  CHECK(progress.settings == "kept");
}
