// Models whose training passes change buffers: BatchNorm.
#include <vector>

#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/random.hpp>
#include <weft/layers/batch_norm.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/trainer.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

namespace weft {
namespace {

struct Model : Module<double> {
  Model() : norm({.num_features = 2, .momentum = 0.25}) {}
  void members(Members<double>& members) const override { members("norm", norm); }
  BatchNorm<double> norm;
};

TensorBatches<double, double> batches() {
  Random random(1);
  return {random.normal_tensor<double>({12, 2}),
          random.normal_tensor<double>({12, 2}),
          {.batch_size = 4, .seed = 5}};
}

void train(Model& model, const TrainerOptions& options) {
  auto source = batches();
  SGD<double> optimizer(model, {.lr = 0.1});
  Trainer(
      model, optimizer, source,
      [&](Tape<double>& tape, const TensorBatch<double, double>& batch) {
        return mse_loss(model.norm(tape.constant(batch.inputs)), tape.constant(batch.targets));
      },
      options)
      .run();
}

}  // namespace

TEST_CASE("running averages: each step updates them, and checkpoints contain them", "[train]") {
  const TemporaryFolder folder;
  Model model;
  train(model, {.epochs = 2, .folder = folder / "run"});
  std::vector<double> means(2), variances(2, 1.0);
  auto source = batches();
  for (std::int64_t epoch = 0; epoch < 2; ++epoch)
    for (Index position = 0; position < 3; ++position) {
      const Tensor<double> x = source.batch(epoch, position).inputs;
      for (Index c = 0; c < 2; ++c) {
        const double mean = (x(0, c) + x(1, c) + x(2, c) + x(3, c)) / 4;
        double squares = 0.0;
        for (Index i = 0; i < 4; ++i) squares += (x(i, c) - mean) * (x(i, c) - mean);
        const auto feature = static_cast<std::size_t>(c);
        means[feature] = 0.75 * means[feature] + 0.25 * mean;
        variances[feature] = 0.75 * variances[feature] + 0.25 * squares / 3;
      }
    }
  Model loaded;
  load_checkpoint(folder / "run/last.h5", loaded);
  for (const Model* trained : {&model, &loaded})
    for (Index c = 0; c < 2; ++c) {
      CHECK(trained->norm.running_mean(c) == Approx(means[static_cast<std::size_t>(c)]));
      CHECK(trained->norm.running_var(c) == Approx(variances[static_cast<std::size_t>(c)]));
    }
}

TEST_CASE("running averages: several parts of a batch are refused, and change nothing", "[train]") {
  Model model;
  CHECK(message_of<ValueError>([&] { train(model, {.parts = 2}); }) ==
        "trainer: parts: expected 1 for a model with running averages (norm.running_mean), got 2");
  CHECK(model.norm.running_mean(0) == 0.0);
}

}  // namespace weft
