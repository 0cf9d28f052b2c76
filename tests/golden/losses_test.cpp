// Trains as write_losses.py did, and compares the losses. Run by tests/losses.sh.
#include <cstdio>
#include <cstdlib>

#include <weft/autograd/ops/cross_entropy.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/optim/adam.hpp>
#include <weft/train/optim/clip.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"

namespace weft {
namespace {

// The largest differences of the loss of a step from PyTorch's.
struct Differences {
  double absolute = 0.0, relative = 0.0;
  Index steps = 0;
};

// The batch of one step.
Tokens at(Index step, const Tokens& batches) {
  const Shape shape = batches.shape().without(0);
  const auto size = static_cast<std::size_t>(shape.elements());
  return Tokens(shape, batches.values().subspan(static_cast<std::size_t>(step) * size, size));
}

template <class T>
Differences train_beside_torch(const Hdf5File& file, const std::string& losses_name) {
  const Tokens inputs = file.tensor<TokenId>("inputs"), targets = file.tensor<TokenId>("targets");
  const auto rates = file.tensor<double>("learning_rates");
  const auto expected = file.tensor<double>(losses_name);
  const Shape vocabulary = file.shape("start/transformer.wte.weight");
  Random random(1);
  Gpt<T> model({.vocabulary_size = vocabulary[0],
                .max_len = inputs.shape()[2],
                .num_hiddens = vocabulary[1],
                .num_heads = 4,
                .num_blocks = 4,
                .bias = false,
                .activation = Activation::gelu},
               random);
  (void)load_weights(file.path(), model, {.group = "start"});
  AdamW<T> optimizer(model, {.beta2 = 0.99, .weight_decay = 0.1});
  Tape<T> tape({.training = true});
  Differences differences{.steps = inputs.shape()[0]};
  for (Index step = 0; step < differences.steps; ++step) {
    const Var<T> loss = cross_entropy(model(tape, at(step, inputs)), at(step, targets));
    const double difference = std::abs(static_cast<double>(loss.item()) - expected(step));
    differences.absolute = std::max(differences.absolute, difference);
    differences.relative = std::max(differences.relative, difference / expected(step));
    tape.backward(loss);
    optimizer.set_learning_rate(rates(step));
    optimizer.step(clip_factor(optimizer.grad_norm(), 1.0));
  }
  std::printf("%-8s %ld steps, loss %.4f to %.4f: differs by at most %.1e (relative: %.1e)\n",
              sizeof(T) == sizeof(float) ? "float" : "double", static_cast<long>(differences.steps),
              expected(0), expected(differences.steps - 1), differences.absolute,
              differences.relative);
  return differences;
}

}  // namespace

TEST_CASE("the first steps of training: losses for tests/losses.sh", "[.losses]") {
  const char* path = std::getenv("WEFT_LOSSES");
  REQUIRE(path);
  const Hdf5File file(path);
  CHECK(train_beside_torch<float>(file, "losses_float32").absolute < 1e-4);
  CHECK(train_beside_torch<double>(file, "losses_float64").absolute < 1e-10);
}

}  // namespace weft
