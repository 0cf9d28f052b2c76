// How the trainer saves: in the background, and several checkpoints.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/parallel.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "tests/train/toy_training.hpp"

using namespace weft;

namespace {

namespace fs = std::filesystem;

TrainingResult train(const fs::path& folder, TrainerOptions options,
                     const std::function<void(std::int64_t)>& each_step = {}) {
  ToyTraining<float> toy;
  options.folder = folder;
  options.epochs = 100;
  options.seed = 17;
  options.save_every_steps = 1;
  const auto loss = [&](Tape<float>& tape, const PairBatch& batch) {
    if (each_step) each_step(toy.optimizer.steps());
    return toy.loss(tape, batch);
  };
  return Trainer(toy.model, toy.optimizer, toy.batches, loss, options).run();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> kept_in(const fs::path& folder) {
  std::vector<std::string> names = names_in(folder);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("step-"); });
  return names;
}

// Limits the size of the files that the process writes.
struct FileSizeLimit {
  explicit FileSizeLimit(rlim_t bytes) {
    thread_count();  // LLVM's OpenMP writes a file when it starts
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &former);
    const rlimit limit{bytes, former.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &former); }
  rlimit former{};
};

}  // namespace

TEST_CASE("saving: in the background, every checkpoint has the same bytes", "[train]") {
  const TemporaryFolder folder;
  for (const bool in_background : {false, true})
    train(folder / (in_background ? "background" : "waiting"),
          {.max_steps = 30, .save_in_background = in_background, .keep_checkpoints = 30});
  CHECK(names_in(folder / "waiting") == names_in(folder / "background"));
  for (int step = 1; step <= 30; ++step) {
    const std::string name = "step-" + std::to_string(step) + ".h5";
    INFO(name);
    CHECK((bytes_of(folder / "waiting" / name) == bytes_of(folder / "background" / name)));
  }
  CHECK((bytes_of(folder / "background/last.h5") == bytes_of(folder / "background/step-30.h5")));
}

TEST_CASE("saving: the newest checkpoints are kept, and other files", "[train]") {
  for (const bool in_background : {false, true}) {
    const TemporaryFolder folder;
    for (const char* name : {"step-1.txt", "my-99.h5"})
      std::ofstream(folder / name) << "another file";
    // Not only after so many seconds.
    train(folder.path(), {.max_steps = 12,
                          .save_every_seconds = in_background ? 0.0 : 1e9,
                          .save_in_background = in_background,
                          .keep_checkpoints = 3});
    CHECK(names_in(folder.path()) ==
          std::vector<std::string>{"checkpoints.txt", "last.h5", "metrics.csv", "my-99.h5",
                                   "report.html", "run.json", "step-1.txt", "step-10.h5",
                                   "step-11.h5", "step-12.h5"});
    ToyTraining<float> toy;
    load_checkpoint(folder / "step-11.h5", toy.model, {{"optimizer", toy.optimizer}});
    CHECK(toy.optimizer.steps() == 11);
  }
}

TEST_CASE("saving: after training went back, what was just written is kept", "[train]") {
  const TemporaryFolder folder;
  train(folder.path(), {.max_steps = 12, .keep_checkpoints = 5});
  // Writing to last.h5 does not change what is kept.
  CHECK(std::filesystem::hard_link_count(folder / "step-12.h5") == 1);
  // Back to step 8, of which a checkpoint is kept.
  std::filesystem::copy_file(folder / "step-8.h5", folder / "last.h5",
                             std::filesystem::copy_options::overwrite_existing);
  // In the order of writing: 10, 11, 12, 9.
  train(folder.path(), {.max_steps = 9, .resume = true, .keep_checkpoints = 4});
  CHECK(kept_in(folder.path()) ==
        std::vector<std::string>{"step-10.h5", "step-11.h5", "step-12.h5", "step-9.h5"});
  train(folder.path(), {.max_steps = 10, .resume = true, .keep_checkpoints = 2});
  CHECK(kept_in(folder.path()) == std::vector<std::string>{"step-10.h5", "step-9.h5"});
  ToyTraining<float> toy;
  load_checkpoint(folder / "step-10.h5", toy.model, {{"optimizer", toy.optimizer}});
  CHECK(toy.optimizer.steps() == 10);
  CHECK((bytes_of(folder / "step-10.h5") == bytes_of(folder / "last.h5")));
}

TEST_CASE("saving: the checkpoints of an earlier training stay", "[train]") {
  const TemporaryFolder folder;
  train(folder.path(), {.max_steps = 5, .keep_checkpoints = 2});  // leaves steps 4 and 5
  const std::string earlier = bytes_of(folder / "step-4.h5");
  write_bytes(folder / "step-1000.h5", "of another program");
  std::filesystem::remove(folder / "last.h5");
  for (const std::int64_t steps : {4, 8})
    train(folder.path(), {.max_steps = steps, .resume = true, .keep_checkpoints = 2});
  CHECK(kept_in(folder.path()) == std::vector<std::string>{"step-1000.h5", "step-4.h5.old1",
                                                           "step-5.h5.old1", "step-7.h5",
                                                           "step-8.h5"});
  CHECK((bytes_of(folder / "step-4.h5.old1") == earlier));
  CHECK(bytes_of(folder / "checkpoints.txt").ends_with("7\n8\n"));
}

TEST_CASE("saving: a list of kept checkpoints that was edited removes nothing else", "[train]") {
  for (const char* list : {"", "no numbers", "3\n../x\n4", "-1\n", "99999999999999999999\n3"}) {
    INFO(list);
    const TemporaryFolder folder;
    train(folder.path(), {.max_steps = 5, .keep_checkpoints = 3});  // leaves steps 3, 4 and 5
    write_bytes(folder / "checkpoints.txt", list);
    train(folder.path(), {.max_steps = 6, .resume = true, .keep_checkpoints = 1});
    CHECK(std::filesystem::exists(folder / "step-6.h5"));
    CHECK(std::filesystem::exists(folder / "step-5.h5"));
    CHECK(std::filesystem::exists(folder / "step-4.h5"));
  }
}

TEST_CASE("saving: a checkpoint that was prepared does not see later changes", "[train]") {
  const TemporaryFolder folder;
  ToyTraining<float> toy;
  const std::vector<float> before = toy.values();
  Hdf5Writer checkpoint = prepare_checkpoint(folder / "model.h5", toy.model);
  toy.model.weight.values()[0] = 5.0f;
  toy.model.bias.set_value(Tensor<float>::full(toy.model.bias.shape(), 7.0f));
  checkpoint.save();
  load_checkpoint(folder / "model.h5", toy.model);
  CHECK(toy.values() == before);
}

TEST_CASE("saving: an error in the background ends the training, and nothing is lost", "[train]") {
  for (const bool in_background : {false, true}) {
    INFO("in the background: " << in_background);
    const TemporaryFolder folder;
    std::optional<FileSizeLimit> full;
    const std::string message = message_of<FileError>([&] {
      train(folder.path(), {.max_steps = 40, .save_in_background = in_background},
            [&](std::int64_t steps) {
              if (steps == 5) full.emplace(1000);
            });
    });
    full.reset();
    CHECK_THAT(message, Catch::Contains("last.h5\": File too large"));
    CHECK(names_in(folder.path()) ==
          std::vector<std::string>{"last.h5", "metrics.csv", "report.html", "run.json"});
    const TrainingResult resumed = train(folder.path(), {.max_steps = 40, .resume = true});
    CHECK(resumed.steps == 40);
    const TemporaryFolder other;
    train(other.path(), {.max_steps = 40});
    CHECK((bytes_of(folder / "last.h5") == bytes_of(other / "last.h5")));
  }
}

TEST_CASE("saving: an error in the background ends the training before the next save", "[train]") {
  const TemporaryFolder folder;
  ToyTraining<float> toy(4000);
  const FileSizeLimit full(1000);
  Trainer trainer(toy.model, toy.optimizer, toy.batches, toy.loss_function(),
                  {.should_stop =
                       [&] {
                         // Also a busy machine lets the thread that saves run in this time.
                         if (toy.optimizer.steps() >= 600)
                           std::this_thread::sleep_for(std::chrono::milliseconds(5));
                         return false;
                       },
                   .folder = folder.path(),
                   .save_every_steps = 600,
                   .log_every_steps = 5000,
                   .save_in_background = true});
  CHECK_THROWS_AS(trainer.run(), FileError);
  CHECK(toy.optimizer.steps() >= 600);
  CHECK(toy.optimizer.steps() < 1000);
}
