#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/layers.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/find_learning_rate.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/sgd.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

// The loss (w - 1)², whose gradient descent with rate r multiplies w - 1 by 1 - 2 r.
struct Parabola final : Module<double> {
  void members(Members<double>& members) const override {
    members.type("Parabola");
    members("w", w);
  }
  Parameter<double> w{Tensor<double>({1}, {3.0})};
};

struct Task {
  Parabola model;
  TensorBatches<double> source{Tensor<double>({4, 1}), Tensor<double>({4, 1}), {.batch_size = 1}};
  LossFunction<double, TensorBatch<double>> loss = [this](Tape<double>& tape, const auto&) {
    const Var<double> error = tape.parameter(model.w) - 1.0;
    return sum(error * error);
  };
};

}  // namespace

TEST_CASE("find_learning_rate: losses of rates that grow by the same factor", "[train]") {
  Task task;
  SGD<double> optimizer(task.model, {.lr = 0.25});
  const LearningRateSearch search =
      find_learning_rate(task.model, optimizer, task.source, task.loss,
                         {.first = 0.01, .last = 100.0, .steps = 5, .smoothing = 0.0});
  // Rates 0.01, 0.1, 1, 10: w - 1 is 2, then 1.96, 1.568, -1.568 and 29.79. The last loss, of the
  // fifth step, would be 887.
  REQUIRE(search.losses.size() == 5);
  const double factors[] = {0.98, 0.8, -1.0, -19.0};
  double error = 2.0;
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(search.learning_rates[i] == Approx(0.01 * std::pow(10.0, i)));
    CHECK(search.losses[i] == Approx(error * error));
    if (i < 4) error *= factors[i];
  }
  // The loss falls the most in the third step, after the rate 0.1.
  CHECK(search.suggestion == Approx(1.0));
  // Everything is as before.
  CHECK(task.model.w.value()(0) == 3.0);
  CHECK(optimizer.learning_rate() == 0.25);
  CHECK(contains(search.svg(), "<svg xmlns='http://www.w3.org/2000/svg'"));
  CHECK(contains(search.svg(), "suggestion: 1)"));
  CHECK(contains(search.svg(), ">1e-1</text>"));
}

TEST_CASE("find_learning_rate: ends when the loss has diverged", "[train]") {
  Task task;
  SGD<double> optimizer(task.model);
  const LearningRateSearch search =
      find_learning_rate(task.model, optimizer, task.source, task.loss,
                         {.first = 0.01, .last = 1e6, .steps = 9, .smoothing = 0.0});
  CHECK(search.losses.size() == 5);  // the loss 887 exceeds 4 times 2.46
  // Without this limit, the search goes on until the loss is infinite.
  const LearningRateSearch whole = find_learning_rate(
      task.model, optimizer, task.source, task.loss,
      {.first = 0.01, .last = 1e300, .steps = 50, .divergence = 1e308, .smoothing = 0.0});
  CHECK(whole.losses.size() < 50);
  CHECK(task.model.w.value()(0) == 3.0);
  // Without two losses, there is nothing to suggest.
  task.model.w.set_value(Tensor<double>({1}, {1e300}));
  CHECK_THROWS_AS(find_learning_rate(task.model, optimizer, task.source, task.loss),
                  NonFiniteError);
}

TEST_CASE("find_learning_rate: training afterwards is as without it", "[train]") {
  std::vector<Tensor<double>> results;
  for (const bool searches : {false, true}) {
    Task task;
    AdamW<double> optimizer(task.model, {.lr = 0.1});
    Trainer trainer(task.model, optimizer, task.source, task.loss, {.epochs = 2});
    if (searches) {
      const auto search = find_learning_rate(task.model, optimizer, task.source, task.loss);
      CHECK(search.suggestion > 1e-3);
      CHECK(search.losses.size() <= 100);
    }
    trainer.run();
    results.push_back(task.model.w.value());
  }
  CHECK(results[0](0) == results[1](0));
}

TEST_CASE("find_learning_rate: losses are averaged without a bias to the first", "[train]") {
  Task task;
  SGD<double> optimizer(task.model);
  const LearningRateSearch search =
      find_learning_rate(task.model, optimizer, task.source, task.loss,
                         {.first = 0.01, .last = 0.1, .steps = 2, .smoothing = 0.5});
  // (0.25 · 4 + 0.5 · 1.96²) / 0.75
  CHECK(search.losses[1] == Approx((0.25 * 4.0 + 0.5 * 1.96 * 1.96) / 0.75));
}

TEST_CASE("find_learning_rate: options outside their ranges throw", "[train]") {
  Task task;
  SGD<double> optimizer(task.model);
  const auto message = [&](const LearningRateSearchOptions& options) {
    return message_of<ValueError>(
        [&] { find_learning_rate(task.model, optimizer, task.source, task.loss, options); });
  };
  CHECK(message({.first = 0.0}) ==
        "find_learning_rate: rates: expected 0 < first < last, got first 0, last 10");
  CHECK(message({.last = 1e-8}) ==
        "find_learning_rate: rates: expected 0 < first < last, got first 1e-07, last 1e-08");
  CHECK(message({.steps = 1}) == "find_learning_rate: steps: expected a number ≥ 2, got 1");
  CHECK(message({.divergence = 1.0}) == "find_learning_rate: divergence: expected > 1, got 1");
  CHECK(message({.smoothing = 1.0}) ==
        "find_learning_rate: smoothing: expected 0 ≤ smoothing < 1, got 1");
  CHECK_THROWS_AS(LearningRateSearch().svg(), ValueError);
}
