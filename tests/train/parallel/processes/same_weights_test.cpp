// Several processes end with the bits of one.
#include <filesystem>
#include <functional>

#include "autograd/internal/bf16_emulation.hpp"
#include "tests/catch.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

struct Outcome {
  std::string weights, average, state;
  double last_validation = 0.0;
};

template <class T>
using MakeOptimizer = std::function<std::unique_ptr<Optimizer<T>>(Module<T>&)>;

template <class T>
MakeOptimizer<T> adam() {
  return [](Module<T>& model) {
    return std::make_unique<AdamW<T>>(model, AdamWOptions{.lr = 1e-3, .weight_decay = 0.1});
  };
}

template <class T>
MakeOptimizer<T> muon() {
  return [](Module<T>& model) { return std::make_unique<Muon<T>>(named_parameters(model)); };
}

template <class T>
Outcome train(const TrainerOptions& options, const MakeOptimizer<T>& make_optimizer = adam<T>(),
              bool keeps_average = false) {
  ManyElementsTraining<T> training;
  const std::unique_ptr<Optimizer<T>> optimizer = make_optimizer(training.model);
  Trainer trainer(training.model, *optimizer, training.batches, training.loss(), options);
  Outcome outcome;
  TensorBatches<T> held_out(ManyElementsTraining<T>::inputs(8), ManyElementsTraining<T>::targets(8),
                            {.batch_size = 3});
  trainer.validate_on(held_out, {.every_steps = 3});
  ExponentialMovingAverage<T> average(training.model, 0.9);
  if (keeps_average) trainer.track_average(average);
  outcome.last_validation = trainer.run().best_value;
  outcome.weights = bytes_of_parameters(training.model);
  Recorder<T> of_average, of_optimizer;
  average.state(of_average);
  outcome.average = of_average.bytes;
  optimizer->state(of_optimizer);
  outcome.state = of_optimizer.bytes;
  return outcome;
}

// Trains in this process alone, and with the others.
template <class T>
void check_same(TrainerOptions options, const MakeOptimizer<T>& make_optimizer = adam<T>(),
                bool keeps_average = false) {
  const Outcome alone = train<T>(options, make_optimizer, keeps_average);
  options.processes = &test_processes();
  const Outcome together = train<T>(options, make_optimizer, keeps_average);
  CHECK((alone.weights == together.weights));
  CHECK((alone.average == together.average));
  CHECK((alone.state == together.state));
  CHECK(alone.last_validation == together.last_validation);
}

}  // namespace

TEST_CASE("processes: the weights of one process, for any number of parts", "[processes]") {
  for (const Index parts : {4, 5, 6, 8}) {
    INFO(parts << " parts");
    check_same<float>({.epochs = 2, .parts = parts, .seed = 9});
  }
  check_same<double>({.epochs = 2, .parts = 7, .clip_norm = 0.1, .seed = 9});
}

TEST_CASE("processes: the same with clipping, accumulation, an average and several threads",
          "[processes]") {
  for (const int threads : {1, 2, 3}) {
    INFO(threads << " threads");
    const int before = thread_count();
    set_thread_count(threads);
    check_same<float>(
        {.epochs = 2, .gradient_accumulation_steps = 3, .parts = 4, .clip_norm = 0.05},
        adam<float>(), true);
    set_thread_count(before);
  }
}

TEST_CASE("processes: the same with bf16 products and several threads", "[processes]") {
  const EmulateBf16 emulation;
  const TrainerOptions options{
      .epochs = 2, .parts = 4, .clip_norm = 0.1, .precision = Precision::bf16};
  for (const int threads : {1, 2, 3}) {
    INFO(threads << " threads");
    const int before = thread_count();
    set_thread_count(threads);
    check_same<float>(options);
    set_thread_count(before);
  }
  CHECK((train<float>(options).weights !=
         train<float>({.epochs = 2, .parts = 4, .clip_norm = 0.1}).weights));
}

TEST_CASE("processes: the same with every optimizer", "[processes]") {
  check_same<float>({.epochs = 1, .parts = 4}, [](Module<float>& model) {
    return std::make_unique<SGD<float>>(model, SGDOptions{.lr = 0.1});
  });
  check_same<float>({.epochs = 1, .parts = 4}, [](Module<float>& model) {
    return std::make_unique<SGD<float>>(model, SGDOptions{.lr = 0.1, .momentum = 0.9});
  });
  check_same<float>({.epochs = 1, .parts = 4}, [](Module<float>& model) {
    return std::make_unique<RMSprop<float>>(model, RMSpropOptions{.lr = 1e-3, .momentum = 0.5});
  });
  for (const int threads : {1, 3}) {
    const int before = thread_count();
    set_thread_count(threads);
    check_same<float>({.epochs = 2, .parts = 4, .clip_norm = 0.1}, muon<float>());
    set_thread_count(before);
  }
  check_same<float>({.epochs = 1, .parts = 4}, [](Module<float>& model) {
    freeze(model, "recomputed");
    return std::make_unique<Adam<float>>(model, AdamOptions{.lr = 1e-3});
  });
}

TEST_CASE("processes: a training moves from several processes to one and back", "[processes]") {
  ProcessGroup& processes = test_processes();
  const TemporaryFolder own;
  // The first process's folder, which all use.
  const std::filesystem::path shared = processes.broadcast(own.path().string());
  TrainerOptions options{.epochs = 3,
                         .gradient_accumulation_steps = 2,
                         .parts = 4,
                         .clip_norm = 0.5,
                         .save_every_steps = 1};
  // The second training uses Muon, whose matrices have no second moment.
  for (const bool in_background : {false, true}) {
    const MakeOptimizer<float> make_optimizer = in_background ? muon<float>() : adam<float>();
    options.folder = own / (in_background ? "alone in background" : "alone");
    options.resume = false;
    options.processes = nullptr;
    const Outcome alone = train<float>(options, make_optimizer, true);
    const std::filesystem::path alone_folder = options.folder;
    options.save_in_background = in_background;
    options.folder = shared / (in_background ? "background" : "moved");
    options.processes = &processes;
    options.max_steps = 2;
    train<float>(options, make_optimizer, true);
    options.resume = true;
    options.max_steps = 4;
    options.processes = nullptr;
    if (processes.is_root()) train<float>(options, make_optimizer, true);
    processes.broadcast("");
    options.max_steps = 0;
    options.processes = &processes;
    const Outcome moved = train<float>(options, make_optimizer, true);
    CHECK((alone.weights == moved.weights));
    CHECK((alone.state == moved.state));
    CHECK((alone.average == moved.average));
    if (!processes.is_root()) continue;
    for (const char* name : {"last.h5", "best.h5"})
      CHECK((bytes_of(alone_folder / name) == bytes_of(options.folder / name)));
  }
}

TEST_CASE("processes: no more bytes are sent than the exchange of gradients and weights needs",
          "[processes]") {
  ProcessGroup& processes = test_processes();
  const auto sent = [&](std::int64_t steps) {
    const std::int64_t before = processes.bytes_sent();
    ManyElementsTraining<float> training;
    AdamW<float> optimizer(training.model);
    Trainer(training.model, optimizer, training.batches, training.loss(),
            {.epochs = 9, .max_steps = steps, .parts = 4, .processes = &processes})
        .run();
    double all = static_cast<double>(processes.bytes_sent() - before);
    processes.all_reduce(std::span(&all, 1));
    return all;
  };
  ManyElements<float> model;
  const double gradients = 4.0 * static_cast<double>(count_parameters(model));
  // 2 (n - 1) / n of the gradients by each of n processes.
  CHECK(sent(1) == 2.0 * (processes.size() - 1) * gradients);
  CHECK(sent(3) == 6.0 * (processes.size() - 1) * gradients);
}

TEST_CASE("processes: observers of the first process see the weights of one process",
          "[processes]") {
  const auto seen = [](ProcessGroup* processes) {
    ManyElementsTraining<float> training;
    AdamW<float> optimizer(training.model, {.lr = 1e-3});
    Trainer trainer(training.model, optimizer, training.batches, training.loss(),
                    {.max_steps = 3, .parts = 4, .processes = processes});
    std::vector<std::string> weights;
    trainer.after_step(
        [&](const StepReport&) { weights.push_back(bytes_of_parameters(training.model)); });
    trainer.run();
    return weights;
  };
  const std::vector<std::string> alone = seen(nullptr), together = seen(&test_processes());
  CHECK(alone.size() == 3);
  CHECK((together == (test_processes().is_root() ? alone : std::vector<std::string>())));
}
