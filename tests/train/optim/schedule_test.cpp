#include <cmath>
#include <limits>

#include <weft/autograd/error.hpp>
#include <weft/train/optim/schedule.hpp>
#include "tests/catch.hpp"

using namespace weft;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// |a - b| within rounding.
bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); }

}  // namespace

TEST_CASE("constant schedule: the same at every step", "[train]") {
  const Schedule schedule = constant_schedule(0.25);
  CHECK(schedule(1) == 0.25);
  CHECK(schedule(1'000'000) == 0.25);
  CHECK(schedule.description() == "constant, lr 0.25");
  CHECK_THROWS_AS(constant_schedule(-0.1), ValueError);
  CHECK_THROWS_AS(constant_schedule(not_a_number), ValueError);
}

TEST_CASE("warmup and cosine: by hand", "[train]") {
  const Schedule schedule =
      warmup_cosine_schedule({.peak = 0.8, .warmup_steps = 4, .total_steps = 12, .final = 0.2});
  CHECK(near(schedule(1), 0.2));
  CHECK(near(schedule(2), 0.4));
  CHECK(near(schedule(4), 0.8));
  // A quarter of the way down: 0.2 + 0.6 · (1 + cos 45°) / 2.
  CHECK(near(schedule(6), 0.2 + 0.3 * (1.0 + std::sqrt(0.5))));
  CHECK(near(schedule(8), 0.5));
  CHECK(near(schedule(12), 0.2));
  CHECK(near(schedule(100), 0.2));
}

TEST_CASE("warmup and cosine: without warmup it starts at the peak", "[train]") {
  const Schedule schedule = warmup_cosine_schedule({.peak = 1.0, .total_steps = 2});
  CHECK(schedule(0) == 1.0);
  CHECK(near(schedule(1), 0.5));
}

TEST_CASE("warmup and cosine: options outside their ranges are refused", "[train]") {
  CHECK_THROWS_AS(warmup_cosine_schedule({.peak = not_a_number}), ValueError);
  CHECK_THROWS_AS(warmup_cosine_schedule({.peak = 0.1, .final = 0.2}), ValueError);
  CHECK_THROWS_AS(warmup_cosine_schedule({.warmup_steps = -1, .total_steps = 5}), ValueError);
  CHECK_THROWS_WITH(warmup_cosine_schedule({.warmup_steps = 5, .total_steps = 5}),
                    "warmup and cosine: steps: expected 0 ≤ warmup_steps < total_steps, got "
                    "warmup_steps 5, total_steps 5");
}

TEST_CASE("warmup, stable, decay: by hand", "[train]") {
  const Schedule schedule = warmup_stable_decay_schedule(
      {.peak = 0.8, .warmup_steps = 4, .decay_steps = 5, .total_steps = 12, .final = 0.3});
  CHECK(near(schedule(1), 0.2));
  CHECK(near(schedule(3), 0.6));
  for (const std::int64_t step : {4, 5, 7}) CHECK(near(schedule(step), 0.8));
  CHECK(near(schedule(8), 0.7));
  CHECK(near(schedule(11), 0.4));
  for (const std::int64_t step : {12, 13, 1000}) CHECK(near(schedule(step), 0.3));
  CHECK(
      schedule.description() ==
      "warmup, stable, decay, peak 0.8, warmup_steps 4, decay_steps 5, total_steps 12, final 0.3");
  const Schedule constant = warmup_stable_decay_schedule({.peak = 0.5, .total_steps = 3});
  CHECK(near(constant(1), 0.5));
  CHECK(near(constant(2), 0.5));
  CHECK(near(constant(3), 0.0));
}

TEST_CASE("warmup, stable, decay: options outside their ranges are refused", "[train]") {
  CHECK_THROWS_AS(warmup_stable_decay_schedule({.peak = not_a_number}), ValueError);
  CHECK_THROWS_AS(warmup_stable_decay_schedule({.peak = 0.1, .final = 0.2}), ValueError);
  CHECK_THROWS_AS(warmup_stable_decay_schedule({.warmup_steps = -1, .total_steps = 5}), ValueError);
  CHECK_THROWS_AS(warmup_stable_decay_schedule({.decay_steps = -1, .total_steps = 5}), ValueError);
  CHECK_THROWS_AS(warmup_stable_decay_schedule({.total_steps = 0}), ValueError);
  CHECK_THROWS_WITH(
      warmup_stable_decay_schedule({.warmup_steps = 3, .decay_steps = 3, .total_steps = 5}),
      "warmup, stable, decay: steps: expected warmup_steps ≥ 0 and decay_steps ≥ 0 whose sum is at "
      "most total_steps > 0, got warmup_steps 3, decay_steps 3, total_steps 5");
}

TEST_CASE("inverse square root: the Transformer paper's, by hand", "[train]") {
  const Schedule schedule =
      inverse_square_root_schedule({.num_hiddens = 64, .warmup_steps = 100, .factor = 2.0});
  CHECK(near(schedule(1), 2.0 / 8.0 / 1000.0));
  CHECK(near(schedule(100), 2.0 / 8.0 / 10.0));
  CHECK(near(schedule(400), 2.0 / 8.0 / 20.0));
  CHECK_THROWS_AS(inverse_square_root_schedule({.num_hiddens = 0}), ValueError);
  CHECK_THROWS_AS(inverse_square_root_schedule({.warmup_steps = 0}), ValueError);
  CHECK_THROWS_AS(inverse_square_root_schedule({.factor = not_a_number}), ValueError);
}

TEST_CASE("schedule: an empty function is refused at construction", "[train]") {
  CHECK_THROWS_WITH(Schedule("mine", {}),
                    "schedule 'mine': learning_rate: expected a function, got none");
}

TEST_CASE("schedules: by hand, and in sequence", "[train]") {
  const Schedule steps = step_schedule(0.8, 2, 0.5);
  for (const auto& [step, lr] : {std::pair{1, 0.8}, {2, 0.8}, {3, 0.4}, {5, 0.2}})
    CHECK(near(steps(step), lr));
  const Schedule line = linear_schedule(0.1, 0.5, 5);
  for (const auto& [step, lr] : {std::pair{1, 0.1}, {3, 0.3}, {5, 0.5}, {9, 0.5}})
    CHECK(near(line(step), lr));
  CHECK(linear_schedule(0.1, 0.5, 1)(1) == 0.5);
  const Schedule both = sequential_schedule({{line, 3}, {scaled_schedule(steps, 2.0), 0}});
  for (const auto& [step, lr] : {std::pair{3, 0.3}, {4, 1.6}, {6, 0.8}})
    CHECK(near(both(step), lr));
  CHECK(both.description() ==
        "linear, lr 0.1 to 0.5 in 5 steps (3 steps), then steps, lr 0.8 × 0.5 every 2 steps, × 2");
  const Schedule three = sequential_schedule(
      {{constant_schedule(1), 2}, {constant_schedule(2), 3}, {linear_schedule(3, 5, 3), 0}});
  for (const auto& [step, lr] : {std::pair{2, 1.0}, {3, 2.0}, {5, 2.0}, {6, 3.0}, {8, 5.0}})
    CHECK(near(three(step), lr));
  const Schedule cycle = one_cycle_schedule({.peak = 1.0, .total_steps = 1});
  CHECK(std::isfinite(cycle(1)));
  CHECK(near(one_cycle_schedule({.peak = 1.0, .total_steps = 10, .pct_start = 0.1})(1), 1.0));
  CHECK(std::isfinite(one_cycle_schedule({.total_steps = 10, .pct_start = 1.0})(99)));
}

TEST_CASE("schedules: before the first step and after the last one, the rate stays", "[train]") {
  const Schedule cosine =
      warmup_cosine_schedule({.peak = 0.8, .warmup_steps = 2, .total_steps = 10, .final = 0.1});
  const Schedule line = linear_schedule(0.1, 0.5, 10);
  // From peak / 25 up to the peak at step 3, and down to peak / 25 / 10000 at step 10.
  const Schedule cycle = one_cycle_schedule({.peak = 0.5, .total_steps = 10, .pct_start = 0.3});
  CHECK(near(cycle(1), 0.02));
  CHECK(near(cycle(3), 0.5));
  CHECK(cycle(4) < 0.5);
  CHECK(near(cycle(10), 2e-6));
  for (const Schedule& schedule : {cosine, line, cycle})
    for (const std::int64_t step : {11, 12, 17, 1000}) CHECK(near(schedule(step), schedule(10)));
  const Schedule root = inverse_square_root_schedule({.num_hiddens = 64, .warmup_steps = 100});
  CHECK(root(0) == root(1));
}

TEST_CASE("schedules: options outside their ranges are refused", "[train]") {
  CHECK_THROWS_AS(step_schedule(-1.0, 2, 0.5), ValueError);
  CHECK_THROWS_AS(step_schedule(1.0, 0, 0.5), ValueError);
  CHECK_THROWS_AS(step_schedule(1.0, 2, 1.5), ValueError);
  CHECK_THROWS_AS(linear_schedule(0.1, not_a_number, 5), ValueError);
  CHECK_THROWS_AS(linear_schedule(0.1, 0.5, 0), ValueError);
  CHECK_THROWS_AS(one_cycle_schedule({.total_steps = 0}), ValueError);
  CHECK_THROWS_AS(one_cycle_schedule({.total_steps = 9, .pct_start = -0.1}), ValueError);
  CHECK_THROWS_AS(one_cycle_schedule({.total_steps = 9, .end_divisor = 0.0}), ValueError);
  CHECK_THROWS_AS(sequential_schedule({}), ValueError);
  CHECK_THROWS_AS(sequential_schedule({{constant_schedule(1), 0}, {constant_schedule(1), 0}}),
                  ValueError);
  CHECK_THROWS_AS(scaled_schedule(constant_schedule(1), -1.0), ValueError);
}
