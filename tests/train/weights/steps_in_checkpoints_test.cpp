// Lists of numbers in checkpoints: how many steps each parameter has missed.
#include <cstdint>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/random.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/affine.hpp"
#include "tests/train/earlier_checkpoint.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

Affine<float> random_model(std::uint64_t seed) {
  Affine<float> model({3, 4}, {3});
  Random random(seed);
  model.weight.set_value(random.normal_tensor<float>({3, 4}));
  model.bias.set_value(random.normal_tensor<float>({3}));
  return model;
}

std::vector<float> values_of(const Affine<float>& model) {
  std::vector<float> values(model.weight.value().begin(), model.weight.value().end());
  values.insert(values.end(), model.bias.value().begin(), model.bias.value().end());
  return values;
}

void step(AdamW<float>& optimizer, Affine<float>& model, bool with_bias) {
  model.weight.set_grad(Tensor<float>::full({3, 4}, 0.5f));
  if (with_bias) model.bias.set_grad(Tensor<float>::full({3}, 0.25f));
  optimizer.step();
}

}  // namespace

TEST_CASE("checkpoint: each parameter's count of steps is resumed", "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model(1), resumed = random_model(2);
  AdamW optimizer(model), resumed_optimizer(resumed);
  for (int i = 0; i < 7; ++i) step(optimizer, model, i >= 4);
  save_checkpoint(folder / "model.h5", model, {{"optimizer", optimizer}});
  load_checkpoint(folder / "model.h5", resumed, {{"optimizer", resumed_optimizer}});
  CHECK(resumed_optimizer.steps() == 7);
  step(optimizer, model, true);
  step(resumed_optimizer, resumed, true);
  CHECK(values_of(resumed) == values_of(model));
}

TEST_CASE("checkpoint: one count of steps for all parameters, as weft 0.2 wrote it, is loaded",
          "[train]") {
  const TemporaryFolder folder;
  Affine<float> model = random_model(1), resumed = random_model(2);
  AdamW optimizer(model, {.lr = 0.02}), resumed_optimizer(resumed, {.lr = 0.02});
  for (int i = 0; i < 7; ++i) step(optimizer, model, true);
  save_checkpoint(folder / "old.h5", model, {{"optimizer", optimizer}});
  const auto left = make_earlier(folder / "old.h5", [](const std::string& path) {
    return contains(path, "initial_learning_rate") || contains(path, "missed");
  });
  // Where no parameter has missed a step, there is no list of those.
  CHECK(left == std::vector<std::string>{"/optimizer/initial_learning_rate"});
  for (int i = 0; i < 3; ++i) step(resumed_optimizer, resumed, false);
  load_checkpoint(folder / "old.h5", resumed, {{"optimizer", resumed_optimizer}});
  CHECK(resumed_optimizer.learning_rate() == 0.02);
  CHECK(resumed_optimizer.steps() == 7);
  step(optimizer, model, true);
  step(resumed_optimizer, resumed, true);
  CHECK(values_of(resumed) == values_of(model));
}

TEST_CASE("checkpoint: a list of another length or type is refused", "[train]") {
  struct List final : Stateful<> {
    explicit List(Index size) : numbers({size}) { numbers(0) = 3; }
    void state(State<>& state) override { state.list("numbers", numbers); }
    Tensor<std::int32_t> numbers;
  };
  struct Numbers final : Stateful<> {
    void state(State<>& state) override { state.tensor("numbers", numbers); }
    Tensor<float> numbers{{2}};
  };
  const TemporaryFolder folder;
  Affine<float> model = random_model(1);
  List two(2), other_two(2), three(3);
  other_two.numbers(1) = 4;
  Numbers numbers;
  save_checkpoint(folder / "list.h5", model, {{"list", two}});
  load_checkpoint(folder / "list.h5", model, {{"list", other_two}});
  CHECK((other_two.numbers(0) == 3 && other_two.numbers(1) == 0));
  CHECK_THAT(message_of<FileError>([&] {
               load_checkpoint(folder / "list.h5", model, {{"list", three}});
             }),
             Catch::Contains("numbers: expected [3], got [2]"));
  CHECK_THAT(message_of<FileError>([&] {
               load_checkpoint(folder / "list.h5", model, {{"list", numbers}});
             }),
             Catch::Contains("int32"));
  save_checkpoint(folder / "numbers.h5", model, {{"list", numbers}});
  CHECK_THAT(message_of<FileError>([&] {
               load_checkpoint(folder / "numbers.h5", model, {{"list", two}});
             }),
             Catch::Contains("float32"));
  CHECK(two.numbers(0) == 3);
}
