#include <weft/autograd/error.hpp>
#include <weft/train/optim/rmsprop.hpp>
#include "tests/catch.hpp"
#include "tests/golden/torch_row.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/weights/recorded_state.hpp"

using namespace weft;
using golden::compare_with_torch_optimizer;

TEMPLATE_TEST_CASE("torch.optim.RMSprop", "[golden][RMSprop]", float, double) {
  compare_with_torch_optimizer<TestType>(
      "torch.optim.RMSprop(parameters, lr=0.02)",
      [](auto& model) { return RMSprop<TestType>(model, {.lr = 0.02}); });
  compare_with_torch_optimizer<TestType>(
      "torch.optim.RMSprop(parameters, lr=0.01, alpha=0.8, eps=1e-4, weight_decay=0.1, "
      "momentum=0.9)",
      [](auto& model) {
        return RMSprop<TestType>(
            model, {.lr = 0.01, .alpha = 0.8, .eps = 1e-4, .weight_decay = 0.1, .momentum = 0.9});
      });
}

TEST_CASE("RMSprop: a lower rate slows what the momentum has gathered, too", "[train]") {
  Affine<double> model({1}, {1});
  RMSprop<double> optimizer(model, {.lr = 0.5, .momentum = 0.5});
  const auto step = [&] {
    model.bias.set_grad(Tensor<double>({1}, {1.0}));
    optimizer.step();
    return model.bias.value()(0);
  };
  const double first = step();
  CHECK(first < -0.1);
  optimizer.set_learning_rate(0.0);
  CHECK(step() == first);
}

TEST_CASE("rmsprop: a state with a negative mean square throws", "[train]") {
  Affine<float> model({2}, {1});
  RMSprop optimizer(model);
  const RecordedState<float> state(optimizer);
  optimizer.check_state();
  (*state.tensors.at("mean_square.weight"))(1) = -0.5f;
  CHECK_THROWS_WITH(optimizer.check_state(),
                    "RMSprop: mean_square of weight: expected values ≥ 0, got -0.5 at [1]");
}

TEST_CASE("RMSprop: options outside their ranges are named", "[train]") {
  Affine<float> model({2}, {3});
  const auto error = [&](const RMSpropOptions& options) {
    return message_of<ValueError>([&] { RMSprop<float>(model, options); });
  };
  CHECK(error({.alpha = 1.0}) == "RMSprop: alpha: expected 0 ≤ alpha < 1, got 1");
  CHECK(error({.eps = -1.0}) == "RMSprop: eps: expected a finite number ≥ 0, got -1");
  CHECK(error({.weight_decay = -1.0}) ==
        "RMSprop: weight_decay: expected a finite number ≥ 0, got -1");
  CHECK(error({.momentum = 1.0}) == "RMSprop: momentum: expected 0 ≤ momentum < 1, got 1");
  CHECK(error({.lr = -1.0}) == "learning rate: expected a finite number ≥ 0, got -1");
  RMSprop<float> optimizer(model, {.momentum = 0.5});
  CHECK(
      optimizer.description() ==
      "RMSprop, lr 0.01, alpha 0.99, eps 1e-08, momentum 0.5, weight decay 0 on 0 parameters in 0 "
      "tensors, none on 5 parameters in 2 tensors");
}
