// What the trainer refuses to resume from: nothing of an earlier training is overwritten.

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <optional>
#include <sstream>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;
namespace fs = std::filesystem;

namespace {

// Saves last.h5 at the end only.
TrainerOptions options_for(const fs::path& folder) {
  return {.epochs = 1, .folder = folder, .resume = true, .log_every_steps = 1};
}

// Validates after every step, with a value that is better each time, unless it is given.
TrainingResult train(ToyTraining<float>& toy, const LossFunction<float, PairBatch>& loss,
                     const TrainerOptions& options, std::optional<double> value = {}) {
  Trainer trainer(toy.model, toy.optimizer, toy.batches, loss, options);
  trainer.validate_with({.columns = {"val_loss"},
                         .run =
                             [&] {
                               const auto steps = static_cast<double>(toy.optimizer.steps());
                               return std::vector{value.value_or(-steps)};
                             },
                         .every_steps = 1});
  return trainer.run();
}

TrainingResult train(const fs::path& folder, std::ostream* output = nullptr) {
  ToyTraining<float> toy;
  TrainerOptions options = options_for(folder);
  options.output = output;
  return train(toy, toy.loss_function(), options);
}

// The contents of all regular files of a folder.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.symlink_status().type() == fs::file_type::regular)
      contents[entry.path().filename()] = bytes_of(entry.path());
  return contents;
}

// The error of resuming, which must leave all files as they are.
std::string error_of_resuming(const fs::path& folder) {
  const auto before = contents_of(folder);
  const std::string message = message_of<FileError>([&] { train(folder); });
  CHECK((contents_of(folder) == before));
  return message;
}

}  // namespace

TEST_CASE("resuming: without last.h5 beside best.h5, nothing is overwritten", "[train]") {
  const TemporaryFolder folder;
  train(folder.path());
  fs::remove(folder / "last.h5");
  CHECK(contains(
      error_of_resuming(folder.path()),
      "last.h5\": expected a checkpoint to resume from, since best.h5 exists, got no such file"));
  fs::remove(folder / "metrics.csv");
  CHECK_FALSE(error_of_resuming(folder.path()).empty());
}

TEST_CASE("resuming: a last.h5 that cannot be looked at is refused", "[train]") {
  const TemporaryFolder folder;
  train(folder.path());
  fs::remove(folder / "last.h5");
  for (const char* target : {"last.h5", "missing.h5"}) {
    fs::create_symlink(target, folder / "last.h5");
    CHECK(contains(error_of_resuming(folder.path()), "last.h5"));
    CHECK(fs::is_symlink(folder / "last.h5"));
    fs::remove(folder / "last.h5");
  }
  REQUIRE(::mkfifo((folder / "last.h5").c_str(), 0666) == 0);
  CHECK(contains(error_of_resuming(folder.path()), "last.h5"));
}

TEST_CASE("resuming: metrics that cannot be read are refused, and kept", "[train]") {
  const TemporaryFolder folder;
  train(folder.path());
  const std::string rows = bytes_of(folder / "metrics.csv");
  write_bytes(folder / "metrics.csv", "my notes\n" + rows);
  CHECK(contains(error_of_resuming(folder.path()), "metrics.csv"));
  write_bytes(folder / "metrics.csv", rows + "my notes\n");
  CHECK(contains(error_of_resuming(folder.path()), "metrics.csv"));
  fs::rename(folder / "metrics.csv", folder / "rows.csv");
  fs::create_symlink("metrics.csv", folder / "metrics.csv");
  CHECK(contains(error_of_resuming(folder.path()), "metrics.csv"));
  fs::remove(folder / "metrics.csv");
  REQUIRE(::mkfifo((folder / "metrics.csv").c_str(), 0666) == 0);
  CHECK(contains(error_of_resuming(folder.path()), "metrics.csv"));
}

TEST_CASE("resuming: a training killed as soon as it saved its best model resumes", "[train]") {
  const TemporaryFolder whole, killed;
  train(whole.path());
  const pid_t child = fork();
  if (child == 0) {
    set_thread_count(1);
    ToyTraining<float> toy;
    train(
        toy,
        [&](Tape<float>& tape, const PairBatch& batch) {
          if (fs::exists(killed / "best.h5")) std::raise(SIGKILL);
          return toy.loss(tape, batch);
        },
        options_for(killed.path()));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK(fs::exists(killed / "best.h5"));
  train(killed.path());
  for (const char* name : {"best.h5", "last.h5"})
    CHECK((bytes_of(killed / name) == bytes_of(whole / name)));
}

TEST_CASE("resuming: the best model is saved again if it is the last one, or else forgotten",
          "[train]") {
  const TemporaryFolder folder;
  CHECK(train(folder.path()).best_step == 6);
  const std::string best = bytes_of(folder / "best.h5");
  fs::remove(folder / "best.h5");
  CHECK(train(folder.path()).best_step == 6);
  CHECK((bytes_of(folder / "best.h5") == best));

  const auto train_again = [&](double value, std::ostream* output) {
    ToyTraining<float> toy;
    TrainerOptions options = options_for(folder.path());
    options.epochs = 2;
    options.output = output;
    options.max_steps = value == 1.0 ? 8 : 0;
    return train(toy, toy.loss_function(), options, value);
  };
  CHECK(train_again(1.0, nullptr).best_step == 6);
  fs::remove(folder / "best.h5");
  std::ostringstream output;
  const TrainingResult result = train_again(2.0, &output);
  CHECK(result.best_step == 9);
  CHECK(result.best_value == 2.0);
  CHECK(fs::exists(folder / "best.h5"));
  CHECK(contains(
      output.str(),
      "best.h5 of step 6 is missing; only later validations will determine the best model"));
}
