#include "examples/common/optimization.hpp"

#include <cmath>

#include <weft/autograd/error.hpp>
#include <weft/layers/linear.hpp>
#include <weft/layers/models/gpt.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using weft::examples::CommandLine;
using weft::examples::Optimization;
using weft::examples::UsageError;

namespace {

// Parses one argument, or none.
void parse(CommandLine& line, std::string argument) {
  std::string program = "test";
  char* argv[] = {program.data(), argument.data(), nullptr};
  REQUIRE(line.parse(argument.empty() ? 1 : 2, argv));
}

}  // namespace

TEST_CASE("optimization: the optimizer is AdamW or Muon, with its options", "[examples]") {
  Random random(1);
  Gpt<float> model({.vocabulary_size = 5, .num_hiddens = 4, .num_blocks = 1}, random);
  Optimization optimization{.lr = 0.25, .beta2 = 0.75, .weight_decay = 0.5};
  const std::string adamw = optimization.make_optimizer(model)->description();
  CHECK(adamw.starts_with("AdamW"));
  optimization.muon = true;
  optimization.adamw_lr_factor = 0.125;
  const std::string muon = optimization.make_optimizer(model)->description();
  CHECK(muon.starts_with("Muon"));
  for (const char* option : {"0.25", "0.75", "0.5"}) {
    CHECK(contains(adamw, option));
    CHECK(contains(muon, option));
  }
  CHECK(contains(muon, "0.125"));
  CHECK_FALSE(contains(adamw, "0.125"));
}

TEST_CASE("optimization: the learning rate falls along a cosine, or linearly in the last steps",
          "[examples]") {
  Optimization optimization{.lr = 0.5, .final_lr = 0.25, .warmup = 10};
  const Schedule cosine = optimization.make_schedule(110);
  CHECK(cosine(5) == 0.25);
  CHECK(cosine(10) == 0.5);
  CHECK(std::abs(cosine(60) - 0.375) < 1e-12);
  CHECK(cosine(110) == 0.25);

  optimization.decay = 0.2;
  const Schedule last_fifth = optimization.make_schedule(100);
  CHECK(last_fifth(5) == 0.25);
  CHECK(last_fifth(80) == 0.5);
  CHECK(std::abs(last_fifth(90) - 0.375) < 1e-12);
  CHECK(last_fifth(100) == 0.25);

  optimization.decay = 1.0;
  CHECK(std::abs(optimization.make_schedule(110)(60) - 0.375) < 1e-12);
  optimization.warmup = 0;
  CHECK(std::abs(optimization.make_schedule(100)(50) - 0.375) < 1e-12);
}

TEST_CASE("optimization: the warmup takes at most half of the steps", "[examples]") {
  for (const double decay : {0.0, 0.75, 1.0}) {
    const Optimization optimization{.lr = 0.5, .warmup = 10, .decay = decay};
    CHECK(optimization.warmup_steps(100) == 10);
    CHECK(optimization.warmup_steps(8) == 4);
    const Schedule schedule = optimization.make_schedule(8);
    CHECK(schedule(2) == 0.25);
    CHECK(schedule(4) == 0.5);
    CHECK(schedule(5) < 0.5);
    CHECK(schedule(8) == 0.0);
    CHECK(optimization.make_schedule(1)(1) == 0.0);
  }
}

TEST_CASE("optimization: an error names the setting that contradicts another one", "[examples]") {
  Optimization optimization{.lr = 0.25, .final_lr = 0.5};
  CHECK(message_of<ValueError>([&] { optimization.check_optimization(); }) ==
        "final-lr: expected at most the peak learning rate 0.25, got 0.5");
  optimization = {.adamw_lr_factor = 0.5};
  CHECK(message_of<ValueError>([&] { optimization.check_optimization(); }) ==
        "adamw-lr-factor: expected 0.1, because muon is not set, got 0.5");
  optimization.muon = true;
  CHECK_NOTHROW(optimization.check_optimization());
}

TEST_CASE("optimization: without Muon, its option is refused, and its setting reset",
          "[examples]") {
  for (const bool muon : {false, true})
    for (const std::string argument : {"", "--adamw-lr-factor=0.5"}) {
      INFO(muon << argument);
      Optimization optimization{.muon = muon, .adamw_lr_factor = 0.3};
      CommandLine line("test", "A test.");
      line.option("adamw-lr-factor", "a factor", optimization.adamw_lr_factor, 0.0, 1.0);
      parse(line, argument);
      if (!muon && !argument.empty()) {
        CHECK(contains(message_of<UsageError>([&] { optimization.reset_unused(line); }),
                       "option --adamw-lr-factor: has no effect without --muon"));
        continue;
      }
      optimization.reset_unused(line);
      CHECK_NOTHROW(optimization.check_optimization());
      CHECK(optimization.adamw_lr_factor == (!muon ? 0.1 : argument.empty() ? 0.3 : 0.5));
    }
}
