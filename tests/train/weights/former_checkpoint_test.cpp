// Checkpoints of former versions. weft 0.1.0 wrote golden/checkpoint_format_1_murmur3.h5 after
// three epochs of ToyTraining, with seed 11 and a validation that got worse each time.
#include <filesystem>

#include <weft/autograd/finite.hpp>
#include <weft/layers/learned_positional_encoding.hpp>
#include <weft/train/hdf5/hdf5_file.hpp>
#include <weft/train/optim/sgd.hpp>
#include <weft/train/training_progress.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/weights.hpp>
#include "tests/catch.hpp"
#include "tests/compare.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

namespace weft {
namespace {

const std::filesystem::path former_file = WEFT_TEST_DATA "/checkpoint_format_1_murmur3.h5";

struct Training {
  ToyTraining<float> toy;
  TrainingProgress<float> progress{{.seed = 11, .data_fingerprint = toy.batches.fingerprint()}};

  void load(const std::filesystem::path& file) {
    load_checkpoint(file, toy.model, {{"optimizer", toy.optimizer}, {"progress", progress}});
  }
};

}  // namespace

TEST_CASE("former checkpoint: weights, optimizer and progress load", "[train]") {
  Training training;
  training.load(former_file);
  CHECK(training.progress.step == 18);
  CHECK(training.progress.epoch == 3);
  CHECK(training.progress.best_step == 6);
  CHECK(training.progress.best_value == 1.5);
  CHECK(training.progress.validations_without_improvement == 2);
  CHECK(training.toy.optimizer.steps() == 18);
  CHECK(std::abs(training.toy.model.weight.value()(4, 4) - -0.646478f) < 1e-6f);
  check_finite("weight", training.toy.model.weight.value());
}

TEST_CASE("former checkpoint: learned positions load from the name that they had", "[train]") {
  struct Model : Module<float> {
    explicit Model(Random& random)
        : position({.num_hiddens = 2, .max_len = 3, .standard_deviation = 0.5}, random) {}
    void members(Members<float>& members) const override { members("position", position); }
    LearnedPositionalEncoding<float> position;
  };
  Random random(1);
  Model model(random);
  const auto parameters = named_parameters(model);
  REQUIRE(parameters.size() == 1);
  CHECK(parameters[0].name == "position.weight");
  SGD<float> optimizer(model, {.lr = 0.1, .momentum = 0.9});

  // As weft 0.1.0 wrote it.
  struct Former : Module<float> {
    void members(Members<float>& members) const override {
      members("position.positions.weight", weight);
    }
    Parameter<float> weight{Tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6})};
  } former;
  SGD<float> former_optimizer(former, {.lr = 0.1, .momentum = 0.9});
  former.weight.set_grad(Tensor<float>::full({3, 2}, 7.0F));
  former_optimizer.step();
  const TemporaryFolder folder;
  save_checkpoint(folder / "former.h5", former, {{"optimizer", former_optimizer}});

  load_checkpoint(folder / "former.h5", model, {{"optimizer", optimizer}});
  CHECK(same(model.position.weight.value(), former.weight.value()));
  save_checkpoint(folder / "new.h5", model, {{"optimizer", optimizer}});
  CHECK(Hdf5File(folder / "new.h5").datasets("model") ==
        std::vector<std::string>{"/model/position/weight"});

  Model weights(random);
  const LoadWeightsReport report = load_weights(folder / "former.h5", weights);
  CHECK(report.renamed ==
        std::vector<std::string>{"position.weight from model.position.positions.weight"});
  CHECK(same(weights.position.weight.value(), former.weight.value()));
}

TEST_CASE("former checkpoint: any flipped byte is noticed", "[train]") {
  const TemporaryFolder folder;
  const std::string bytes = bytes_of(former_file);
  for (std::size_t i = 0; i < bytes.size(); i += 311) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    const std::filesystem::path file = folder / "damaged.h5";
    write_bytes(file, damaged);
    Training training;
    CHECK_THROWS_AS(training.load(file), FileError);
  }
}

}  // namespace weft
