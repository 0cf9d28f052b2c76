#include "train/report/internal/training_warnings.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "train/report/internal/parameter_watch.hpp"

using namespace weft;

namespace {

// The warnings of losses: of each, the step.
std::vector<int> steps_of_warnings(int steps, const std::function<double(int step)>& loss) {
  TrainingWarnings warnings;
  std::vector<int> found;
  for (int step = 1; step <= steps; ++step)
    if (warnings.after_step(loss(step))) found.push_back(step);
  return found;
}

// Noise in -1 … 1 that has no period.
double noise(int step) { return std::sin(12.9898 * step * step); }

}  // namespace

TEST_CASE("warnings: a loss that rises is found once", "[report]") {
  // From the start, after a fall, and below 0.
  const auto diverging = steps_of_warnings(300, [](int step) { return 4.0 + 0.5 * step; });
  REQUIRE(diverging.size() == 1);
  CHECK(diverging[0] < 80);
  const auto later = steps_of_warnings(2000, [](int step) {
    return (step < 1000 ? 4.0 / std::sqrt(step) : 0.13 + 0.01 * (step - 1000)) + 0.02 * noise(step);
  });
  REQUIRE(later.size() == 1);
  CHECK(later[0] > 1200);
  CHECK(steps_of_warnings(500, [](int step) { return -4.0 + 0.01 * step; }).size() == 1);
  CHECK(steps_of_warnings(500, [](int step) { return step == 1 ? -4.5 : -4.0; }).empty());
  TrainingWarnings warnings;
  std::string text;
  for (int step = 1; step < 200; ++step)
    if (const auto warning = warnings.after_step(step)) text = *warning;
  CHECK(contains(text, "the loss has risen from 1 to "));
  CHECK(contains(text, "try a lower learning rate"));
}

TEST_CASE("warnings: noise, plateaus and single spikes are no rise", "[report]") {
  CHECK(steps_of_warnings(5000, [](int step) { return 1.0 + 0.9 * noise(step); }).empty());
  CHECK(steps_of_warnings(5000, [](int step) { return 4.0 / step + 0.3 * noise(step); }).empty());
  CHECK(steps_of_warnings(3000, [](int step) {
          return 4.0 / std::sqrt(step) + (step % 500 == 0 ? 50.0 : 0.0);
        }).empty());
  CHECK(steps_of_warnings(1000, [](int) { return 0.0; }).empty());
}

TEST_CASE("warnings: time that is spent waiting for data", "[report]") {
  TrainingWarnings late, fast, short_run;
  int warned = 0;
  for (int i = 0; i < 100; ++i) {
    warned += late.after_waiting(0.1, 0.03) ? 1 : 0;
    CHECK_FALSE(fast.after_waiting(0.1, 0.01));
    CHECK_FALSE(short_run.after_waiting(0.01, 0.009));
  }
  CHECK(warned == 1);
}

TEST_CASE("warnings: gradients that are all zero, three times in a row", "[report]") {
  const std::vector<ParameterUpdate> all{{.name = "a", .has_gradient = true}},
      some{{.name = "a", .has_gradient = true}, {.name = "b"}, {.name = "c"}};
  TrainingWarnings warnings;
  for (const auto* updates : {&some, &some, &all, &some, &some})
    CHECK_FALSE(warnings.without_gradient(*updates));
  CHECK(contains(warnings.without_gradient(some).value(),
                 "the gradient of b and 1 more is all zero"));
  CHECK_FALSE(warnings.without_gradient(some));
}

TEST_CASE("warnings: steps that change weights by far too much or too little", "[report]") {
  const auto text_of = [](double change, std::vector<double> learning_rates) {
    TrainingWarnings warnings;
    std::string text;
    const std::vector<ParameterUpdate> updates{
        {.name = "bias", .value = 1.0, .change = 1e-3},
        {.name = "zero", .is_matrix = true, .value = 0.0, .change = 1.0},
        {.name = "weight", .is_matrix = true, .value = 2.0, .change = 2.0 * change}};
    for (const double rate : learning_rates) text += warnings.of_ratio(updates, rate).value_or("");
    return text;
  };
  CHECK(text_of(1e-3, {1, 1, 1, 1}).empty());
  CHECK(text_of(0.05, {1, 1, 1, 1}).empty());
  CHECK(text_of(0.5, {1, 1}).empty());
  CHECK(text_of(0.5, {1, 1, 1, 1}) ==
        "a step changes weights by 0.5 times their size (about 0.001 is usual); try a lower "
        "learning rate");
  CHECK(contains(text_of(1e-6, {1, 1, 1}), "try a higher learning rate"));
  // Where a schedule ends.
  CHECK(text_of(1e-6, {1, 1, 0.4, 0.1, 0.1, 0.1}).empty());
}

TEST_CASE("warnings: validation that rises while training falls", "[report]") {
  TrainingWarnings overfitting, unstable, improving;
  std::string text;
  for (int i = 1; i <= 6; ++i) {
    text += overfitting.after_validation(100 * i, i < 3 ? 2.0 - 0.1 * i : 2.0, 2.0 - 0.3 * i)
                .value_or("");
    CHECK_FALSE(unstable.after_validation(i, 1.0 + i, 1.0 + i));
    CHECK_FALSE(improving.after_validation(i, 2.0 - 0.1 * i, 2.0 - 0.2 * i));
  }
  CHECK(text.starts_with("validation has risen from 1.8 at step 200 to 2 while"));
  // Twice in a row may be noise.
  TrainingWarnings noisy;
  for (int i = 1; i <= 12; ++i)
    CHECK_FALSE(noisy.after_validation(i, i % 3 == 1 ? 2.0 - 0.1 * i : 3.0, 2.0 - 0.1 * i));
}

TEST_CASE("warnings: validation that only varies, or training that stands still, is no sign",
          "[report]") {
  const auto warning_of = [](const std::vector<double>& validations, double training_fall,
                             bool has_patience = false) {
    TrainingWarnings warnings;
    std::string text;
    double training = 0.5;
    for (std::size_t i = 0; i < validations.size(); ++i) {
      const auto step = static_cast<std::int64_t>(100 * (i + 1));
      text += warnings.after_validation(step, validations[i], training, has_patience).value_or("");
      training *= 1.0 - training_fall;
    }
    return text;
  };
  // After a fall, values that rise and fall.
  const std::vector<double> varies{.06, .04, .034, .0300, .0310, .0322, .0305, .0317, .0311, .0321};
  CHECK(warning_of(varies, 0.0005).empty());
  CHECK(warning_of(varies, 0.05).empty());
  std::vector<double> noisy, rises;
  for (int i = 0; i < 40; ++i) {
    noisy.push_back(1.0 + std::exp(-0.2 * i) + 0.02 * noise(i));
    rises.push_back(noisy.back() + 0.03 * std::max(0, i - 10));
  }
  CHECK(warning_of(noisy, 0.05).empty());
  CHECK(warning_of(rises, 0.0001).empty());
  CHECK(contains(warning_of(rises, 0.05), "a smaller model, or stopping there (patience)"));
  CHECK(warning_of(rises, 0.05, true).ends_with("weight decay, or a smaller model"));
}

TEST_CASE("parameter watch: root mean squares of values, gradients and changes", "[report]") {
  for (const Index size : {3, 1024, 1025, 5000}) {
    Parameter<double> weight(Tensor<double>({size, 1})), bias(Tensor<double>({size}));
    for (double& value : weight.values()) value = -2.0;
    const NamedParameters<double> parameters{{"weight", &weight}, {"bias", &bias}};
    Tensor<double> gradient({size, 1});
    std::fill(gradient.begin(), gradient.end(), 0.5);
    weight.set_grad(gradient);
    ParameterWatch<double> watch;
    watch.before_update(99, parameters);
    watch.after_update(parameters);
    CHECK(watch.updates().empty());
    watch.before_update(100, parameters);
    for (double& value : weight.values()) value += 0.25;
    watch.after_update(parameters);
    REQUIRE(watch.updates().size() == 2);
    const ParameterUpdate &first = watch.updates()[0], &second = watch.updates()[1];
    CHECK(first.name == "weight");
    CHECK((first.is_matrix && first.has_gradient));
    CHECK(first.value == Approx(2.0));
    CHECK(first.gradient == Approx(0.5));
    CHECK(first.change == Approx(0.25));
    CHECK(first.ratio().value() == Approx(0.125));
    CHECK((!second.is_matrix && !second.has_gradient));
    CHECK_FALSE(second.ratio());
  }
}

TEST_CASE("parameter watch: one element beside the sample has a gradient", "[report]") {
  Parameter<float> weight(Tensor<float>({5000}));
  Tensor<float> gradient({5000});
  gradient.data()[4998] = 1.0f;
  weight.set_grad(gradient);
  ParameterWatch<float> watch;
  watch.before_update(200, {{"weight", &weight}});
  watch.after_update({{"weight", &weight}});
  CHECK(watch.updates().at(0).has_gradient);
}
