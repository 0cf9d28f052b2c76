// Layers and schedules compared with PyTorch expressions: rows of rows.h5.
#include <weft/layers.hpp>
#include <weft/train/optim/schedule.hpp>
#include <weft/train/training_progress.hpp>
#include "tests/catch.hpp"
#include "tests/golden/torch_row.hpp"

using namespace weft;
using golden::compare_with_torch;
using golden::compare_with_torch_schedule;

TEMPLATE_TEST_CASE("torch.nn.Dropout in evaluation", "[golden][Dropout]", float, double) {
  Dropout<TestType> layer(0.4);
  compare_with_torch<TestType>("torch.nn.Dropout(0.4).eval()", {{2, 3, 6}}, layer,
                               [&](const auto& x) {
                                 Tape<TestType>& tape = x[0].tape();
                                 REQUIRE_FALSE(tape.training());
                                 return layer(x[0]);
                               });
}

TEMPLATE_TEST_CASE("torch's scaled dot-product attention", "[golden][DotProductAttention]", float,
                   double) {
  DotProductAttention<TestType> layer({});
  compare_with_torch<TestType>("Function(torch.nn.functional.scaled_dot_product_attention)",
                               {{2, 3, 6}, {2, 5, 6}, {2, 5, 4}}, layer,
                               [&](const auto& x) { return layer(x[0], x[1], x[2]); });
}

TEMPLATE_TEST_CASE("a feed-forward network of torch's layers", "[golden][PositionWiseFeedForward]",
                   float, double) {
  Random random(1);
  PositionWiseFeedForward<TestType> layer({.num_hiddens = 6, .ffn_num_hiddens = 8}, random);
  compare_with_torch<TestType>(
      "torch.nn.Sequential(OrderedDict(dense1=torch.nn.Linear(6, 8), relu=torch.nn.ReLU(), "
      "dense2=torch.nn.Linear(8, 6)))",
      {{2, 3, 6}}, layer, [&](const auto& x) { return layer(x[0]); });
}

TEMPLATE_TEST_CASE("positional encodings by their formulas in torch",
                   "[golden][PositionalEncoding][LearnedPositionalEncoding]", float, double) {
  PositionalEncoding<TestType> fixed({.num_hiddens = 7, .max_len = 9});
  compare_with_torch<TestType>("Function(lambda x: x + sinusoids(x.shape[1], 7))", {{2, 5, 7}},
                               fixed, [&](const auto& x) { return fixed(x[0]); });
  Random random(1);
  struct LearnedPositions : Module<TestType> {
    explicit LearnedPositions(Random& random)
        : positions({.num_hiddens = 6, .max_len = 9}, random) {}
    void members(Members<TestType>& members) const override { members("positions", positions); }
    LearnedPositionalEncoding<TestType> positions;
  } learned(random);
  compare_with_torch<TestType>("LearnedPositions(9, 6)", {{2, 5, 6}}, learned,
                               [&](const auto& x) { return learned.positions(x[0]); });
}

TEST_CASE("torch's learning rate schedulers",
          "[golden][constant_schedule][warmup_cosine_schedule][inverse_square_root_schedule]") {
  compare_with_torch_schedule("torch.optim.lr_scheduler.ConstantLR(optimizer(0.25), factor=1.0)",
                              constant_schedule(0.25));
  compare_with_torch_schedule(
      "warmup(optimizer(0.5), 6, lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 20, "
      "eta_min=0.05))",
      warmup_cosine_schedule({.peak = 0.5, .warmup_steps = 6, .total_steps = 26, .final = 0.05}));
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.LambdaLR(optimizer(1.0), lambda step: 2 * 64**-0.5 * "
      "min((step + 1)**-0.5, (step + 1) * 8**-1.5))",
      inverse_square_root_schedule({.num_hiddens = 64, .warmup_steps = 8, .factor = 2.0}));
}

TEST_CASE("torch's learning rate schedulers: steps, lines, one cycle, and one after the other",
          "[golden][step_schedule][linear_schedule][one_cycle_schedule][sequential_schedule]") {
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.StepLR(optimizer(0.5), step_size=4, gamma=0.3)",
      step_schedule(0.5, 4, 0.3));
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.LinearLR(optimizer(0.5), 0.2, 1.0, total_iters=9)",
      linear_schedule(0.1, 0.5, 10));
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.OneCycleLR(optimizer(0.5), 0.5, total_steps=26, "
      "cycle_momentum=False)",
      one_cycle_schedule({.peak = 0.5, .total_steps = 26}));
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.OneCycleLR(optimizer(0.5), 0.5, total_steps=26, pct_start=0.5, "
      "div_factor=4, final_div_factor=8, cycle_momentum=False)",
      one_cycle_schedule({.peak = 0.5,
                          .total_steps = 26,
                          .pct_start = 0.5,
                          .start_divisor = 4,
                          .end_divisor = 8}));
  compare_with_torch_schedule(
      "(lambda o: torch.optim.lr_scheduler.SequentialLR(o, "
      "[torch.optim.lr_scheduler.LinearLR(o, 0.2, 1.0, total_iters=4), "
      "torch.optim.lr_scheduler.StepLR(o, 3, 0.5)], milestones=[5]))(optimizer(0.5))",
      sequential_schedule({{linear_schedule(0.1, 0.5, 5), 5}, {step_schedule(0.5, 3, 0.5), 0}}));
}

TEST_CASE("torch's learning rate schedulers: a trapezoid",
          "[golden][warmup_stable_decay_schedule]") {
  compare_with_torch_schedule(
      "(lambda o: torch.optim.lr_scheduler.SequentialLR(o, "
      "[torch.optim.lr_scheduler.LinearLR(o, 1 / 6, 1.0, total_iters=5), "
      "torch.optim.lr_scheduler.ConstantLR(o, 1.0), "
      "torch.optim.lr_scheduler.LinearLR(o, 1.0, 0.2, total_iters=10)], "
      "milestones=[5, 13]))(optimizer(0.5))",
      warmup_stable_decay_schedule(
          {.peak = 0.5, .warmup_steps = 6, .decay_steps = 10, .total_steps = 24, .final = 0.1}));
}

TEST_CASE("torch's learning rate schedulers: warm restarts",
          "[golden][cosine_warm_restarts_schedule]") {
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer(0.5), 4, 2, 0.05)",
      cosine_warm_restarts_schedule({.peak = 0.5, .first_steps = 4, .factor = 2, .final = 0.05}));
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer(0.5), 5)",
      cosine_warm_restarts_schedule({.peak = 0.5, .first_steps = 5}));
}

namespace {

// The rates of a training without a schedule, lowered by `plateau` after values of the steps.
Schedule on_plateau(const Plateau& plateau) {
  return {"plateau", [plateau](std::int64_t step) {
            TrainingProgress<float> progress(TrainingIdentity{});
            double rate = 0.5;
            for (std::int64_t i = 0; i + 1 < step; ++i) {
              const double value =
                  std::abs(static_cast<double>(i % 9 - 4)) / static_cast<double>(i + 5);
              if (progress.add_validation(value, plateau))
                rate = plateau.reduced(rate, plateau.factor);
            }
            return rate;
          }};
}

}  // namespace

TEST_CASE("torch's ReduceLROnPlateau", "[golden][Plateau]") {
  compare_with_torch_schedule(
      "plateau(optimizer(0.5), factor=0.3, patience=1, threshold=0.2, cooldown=2, min_lr=0.01)",
      on_plateau({.factor = 0.3, .patience = 1, .threshold = 0.2, .cooldown = 2, .min_lr = 0.01}));
  compare_with_torch_schedule(
      "plateau(optimizer(0.5), factor=0.7, patience=0, threshold=0.05, threshold_mode='abs')",
      on_plateau({.factor = 0.7, .patience = 0, .threshold = 0.0, .min_delta = 0.05}));
}

TEST_CASE("torch's learning rate schedulers, with a factor", "[golden][scaled_schedule]") {
  compare_with_torch_schedule(
      "torch.optim.lr_scheduler.StepLR(optimizer(0.25), step_size=4, gamma=0.5)",
      scaled_schedule(step_schedule(0.5, 4, 0.5), 0.5));
}
