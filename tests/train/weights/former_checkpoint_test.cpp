// Checkpoints of former versions. weft 0.1.0 wrote golden/checkpoint_format_1_murmur3.h5 after
// three epochs of ToyTraining, with seed 11 and a validation that got worse each time.
#include <filesystem>

#include <weft/autograd/finite.hpp>
#include <weft/train/training_progress.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
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
