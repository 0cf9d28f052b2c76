#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/train/parallel/parallel_pass.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"
#include "train/report/internal/gradient_noise.hpp"
#include "train/report/internal/metrics_observer.hpp"
#include "train/report/internal/training_warnings.hpp"

using namespace weft;

namespace {

std::string metrics_of(TrainerOptions options, const TemporaryFolder& folder) {
  options.folder = folder.path();
  ToyTraining<float> toy;  // 6 updates per epoch
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), options).run();
  std::ostringstream text;
  text << std::ifstream(folder / "metrics.csv").rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("gradient noise: the estimates of equal parts, calculated by hand", "[report]") {
  // Two parts of 2 examples have the mean gradients 3 and 1, so the batch of 4 has the gradient 2.
  // Appendix A.1: |G|² = (4 · 4 - 2 · 5) / (4 - 2) = 3 and tr(Σ) = (5 - 4) / (1/2 - 1/4) = 4.
  GradientNoise noise;
  CHECK_FALSE(noise.scale());
  noise.add(std::vector{2.0, 2.0}, std::vector{2.25, 0.25}, 2.0);
  CHECK(noise.scale().value() == Approx(4.0 / 3.0));
  // A part without labels does not count, nor does a step with a single part.
  GradientNoise same;
  same.add(std::vector{2.0, 0.0, 2.0}, std::vector{2.25, 0.0, 0.25}, 2.0);
  same.add(std::vector{2.0, 0.0}, std::vector{9.0, 0.0}, 3.0);
  CHECK(same.scale().value() == Approx(4.0 / 3.0));
}

TEST_CASE("gradient noise: parts of different weights, calculated by hand", "[report]") {
  // Parts of 1 and 3 examples with the gradients 4 and 0 add up to 1/4 · 4 = 1.
  // tr(Σ) / 4 = 1/4 · 16 + 3/4 · 0 - 1 = 3 and |G|² = 1 - 3 < 0: the noise hides the gradient.
  GradientNoise noise;
  noise.add(std::vector{1.0, 3.0}, std::vector{1.0, 0.0}, 1.0);
  CHECK_FALSE(noise.scale());
  // Gradients 0 and 4: |g|² = 9, tr(Σ) / 4 = 3/4 · 16 - 9 = 3 and |G|² = 6.
  GradientNoise other;
  other.add(std::vector{1.0, 3.0}, std::vector{0.0, 9.0}, 3.0);
  CHECK(other.scale().value() == Approx(12.0 / 6.0));
  // The mean of both: tr(Σ) = 12 · (1 + 0.95), |G|² = 6 · 0.95 - 2.
  other.add(std::vector{1.0, 3.0}, std::vector{1.0, 0.0}, 1.0);
  CHECK(other.scale().value() == Approx(12.0 * 1.95 / (6.0 * 0.95 - 2.0)));
}

TEST_CASE("update ratio: the median of the matrices", "[report]") {
  const auto update = [](double value, double change, bool is_matrix) {
    return ParameterUpdate{.name = "w", .is_matrix = is_matrix, .value = value, .change = change};
  };
  CHECK_FALSE(median_ratio({update(0.0, 1.0, true), update(1.0, 1.0, false)}));
  CHECK(median_ratio({update(2.0, 0.002, true), update(1.0, 0.5, true), update(4.0, 0.008, true),
                      update(1.0, 9.0, false)})
            .value() == Approx(0.002));
}

TEST_CASE("parallel pass: the squared norm of each part's gradients", "[report]") {
  Parameter<double> a(Tensor<double>({2}, {1.0, 2.0})), unused(Tensor<double>({2}));
  ParallelPass<double> pass({{"a", &a}, {"unused", &unused}}, 3, {.training = true});
  pass.begin();
  pass.add_batch(1, 2, [&](Tape<double>& tape, Index part) {
    return (part == 0 ? 1.0 : 3.0) * sum(tape.parameter(a));
  });
  CHECK(pass.squared_grad_norms() == std::vector{2.0, 18.0, 0.0});  // (1, 1), (3, 3), no part
  pass.sum_gradients();
  CHECK(a.grad().data()[0] == 4.0);
}

TEST_CASE("metrics: further columns follow, and keep the last value measured", "[train]") {
  const TemporaryFolder folder;
  std::optional<double> value;
  MetricsObserver metrics(folder / "metrics.csv", 2, [](double loss) { return loss; },
                          {{"further", [&] { return value; }}});
  metrics.begin({.columns = {"val_loss"}});
  value = 0.5;
  metrics.after_step({.step = 1});
  value.reset();
  for (std::int64_t step = 2; step <= 4; ++step)
    metrics.after_step({.step = step, .is_validated = step == 4});
  metrics.after_validation({.step = 4, .values = {0.25}});
  std::ostringstream text;
  text << std::ifstream(folder / "metrics.csv").rdbuf();
  CHECK(contains(text.str(), "_per_s,val_loss,further\n2,1,0,0,0,0,,0.5\n4,1,0,0,0,0,0.25,\n"));
}

TEST_CASE("trainer: the noise scale is in the unit of the losses' weights", "[train]") {
  const auto noise_scales = [](double unit) {
    const TemporaryFolder folder;
    ToyTraining<float> toy;
    const auto loss = [&](Tape<float>& tape, const PairBatch& batch) {
      const Var<float> mean = toy.loss(tape, batch);
      return WeightedLoss<float>(mean, unit * tape.label_counts().front());
    };
    Trainer(toy.model, toy.optimizer, toy.batches, loss,
            {.epochs = 9, .parts = 2, .folder = folder.path(), .update_statistics = true})
        .run();
    std::vector<double> scales;
    std::ifstream file(folder / "metrics.csv");
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line))
      if (const std::size_t comma = line.rfind(','); comma + 1 < line.size())
        scales.push_back(std::stod(line.substr(comma + 1)));
    return scales;
  };
  const std::vector<double> once = noise_scales(1.0), twice = noise_scales(2.0);
  REQUIRE(once.size() > 1);
  REQUIRE(twice.size() == once.size());
  for (std::size_t i = 0; i < once.size(); ++i) CHECK(twice[i] == Approx(2.0 * once[i]));
}

TEST_CASE("trainer: update_statistics adds columns that change nothing else", "[train]") {
  const TemporaryFolder with, without, alone;
  const TrainerOptions options{.epochs = 20, .parts = 2, .update_statistics = true};
  std::istringstream lines(metrics_of(options, with));
  std::string line, last;
  std::getline(lines, line);
  CHECK(line.ends_with("_per_s,update_ratio,noise_scale"));
  int ratios = 0, noises = 0;
  while (std::getline(lines, line)) {
    const std::size_t noise = line.rfind(','), ratio = line.rfind(',', noise - 1);
    if (noise + 1 < line.size()) {
      ++noises;
      CHECK(std::stod(line.substr(noise + 1)) > 0.0);
    }
    ratios += noise > ratio + 1;
  }
  CHECK(ratios == 1);  // step 100 of 120
  CHECK(noises > 5);
  metrics_of({.epochs = 20, .parts = 2}, without);
  ToyTraining<float> a, b;
  load_checkpoint(with / "last.h5", a.model);
  load_checkpoint(without / "last.h5", b.model);
  CHECK(a.values() == b.values());
  // A single part has no noise to measure.
  CHECK(contains(metrics_of({.epochs = 2, .parts = 1, .update_statistics = true}, alone), ",,\n"));
  CHECK(message_of<ValueError>([] {
          ToyTraining<float> toy;
          Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.update_statistics = true});
        }) == "trainer: update_statistics: expected a folder for metrics.csv, got an empty path");
}
