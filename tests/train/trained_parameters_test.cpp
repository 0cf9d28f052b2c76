// Which parameters a trainer trains, and which operation it blames for what is not finite.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/reductions.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/layers/freeze.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

TEST_CASE("trainer: parameters may be frozen after the optimizer was made, but not all",
          "[train]") {
  ToyTraining<float> toy;
  toy.model.bias.set_grad(Tensor<float>::full({9}, 1.0f));
  freeze(toy.model, "bias");
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {});
  trainer.run();
  for (const float value : toy.model.bias.value()) CHECK(value == 0.0f);
  CHECK(std::ranges::any_of(toy.model.weight.value(), [](float value) { return value != 0; }));
  // Trained from here on, with a first step of Adam.
  unfreeze(toy.model);
  Trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {.max_steps = 1}).run();
  for (const float value : toy.model.bias.value())
    CHECK((value == 0.0f || std::abs(value) == Approx(0.05).epsilon(1e-3)));
  CHECK(std::ranges::any_of(toy.model.bias.value(), [](float value) { return value != 0; }));
  freeze(toy.model);
  Trainer frozen(toy.model, toy.optimizer, toy.batches, toy.loss_function(), {});
  CHECK(message_of<ValueError>([&] { frozen.run(); }) ==
        "trainer: model: expected at least one parameter that is not frozen, got none");
}

TEST_CASE("trainer: an optimizer whose parameters were removed throws before the first step",
          "[train]") {
  ToyTraining<float> toy;
  auto optimizer = [] {
    Affine<float> other({1}, {1});
    return std::make_unique<SGD<float>>(other);
  }();
  Trainer trainer(toy.model, *optimizer, toy.batches, toy.loss_function(), {});
  CHECK(message_of<Error>([&] { trainer.run(); }) ==
        "parameter weight: expected an existing parameter, got a removed or replaced parameter "
        "(see merge_lora and remove_lora)");
}

TEST_CASE("trainer: blames the operation that made a NaN, and no mask of infinities", "[train]") {
  ToyTraining<float> toy;
  const auto message = [&](const auto& change) {
    Trainer trainer(toy.model, toy.optimizer, toy.batches,
                    [&](Tape<float>& tape, const PairBatch& batch) {
                      const Var<float> weight = tape.parameter(toy.model.weight);
                      const Var<float> masked = where(Tensor<bool>({9, 1}), weight,
                                                      -std::numeric_limits<double>::infinity());
                      return toy.loss(tape, batch) + mean(softmax(masked)) + change(weight);
                    },
                    {});
    return message_of<NonFiniteError>([&] { trainer.run(); });
  };
  CHECK_THAT(message([](const Var<float>& x) { return sum(log(x - 1)); }),
             Catch::StartsWith("step 1: operation 'log' (record "));
  CHECK_THAT(message([](const Var<float>& x) { return 2 * sum(exp(x + 1000)); }),
             Catch::StartsWith("step 1: operation 'exp': expected a finite loss, got inf"));
}
