// Random trainings and exchanges of several processes, which all draw the same: none waits for
// another one forever, and all have the same result or an Error.
#include <memory>
#include <numeric>

#include "tests/random_calls.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

using Batch = TensorBatch<float>;

// Has what all processes draw, and which of them is to fail.
class Session {
 public:
  explicit Session(Arguments& arguments)
      : a_(arguments),
        folder_(processes_.broadcast_from_root([this] { return own_folder_.path().string(); })) {}

  // One of the processes may fail alone: then all of them do.
  void act() {
    failing_ = a_.chance(0.2) ? static_cast<int>(a_.below(processes_.size())) : -1;
    calls_ = 1 + a_.below(10);
    std::string outcome = "none";
    try {
      outcome = a_.chance(0.6) ? train() : exchange();
    } catch (const Error&) {
      outcome = "Error";
    }
    for (const std::string& other : processes_.all_gather(outcome)) REQUIRE(other == outcome);
  }

 private:
  void fail_here() {
    if (failing_ == processes_.rank() && --calls_ == 0) throw Error("a process: fails alone");
  }
  bool fails_alone() const { return failing_ == processes_.rank(); }

  // Returns all parameters.
  std::string train() {
    Random random(1);
    Linear<float> model({.in_features = 3, .out_features = 2}, random);
    const Index examples = 1 + a_.below(20);
    TensorBatches<> batches(random.normal_tensor({examples, 3}),
                            random.normal_tensor({examples, 2}), {.batch_size = 1 + a_.below(6)});
    const auto loss = [this](Tape<float>& tape, const Batch& batch, const Linear<float>& of) {
      fail_here();
      return mse_loss(dropout(of(tape.constant(batch.inputs)), 0.1), tape.constant(batch.targets));
    };
    const double lr = a_.chance(0.95) ? 0.01 : a_.number();
    AdamW<float> adam(model, {.lr = a_.chance(0.95) ? 0.01 : 0.02});
    SGD<float> sgd(model, {.momentum = 0.5});
    Optimizer<float>& optimizer = a_.flag() ? static_cast<Optimizer<float>&>(adam) : sgd;
    const bool saves = a_.flag();
    TrainerOptions options{.epochs = 1 + a_.below(2),
                           .max_steps = a_.below(6),
                           .gradient_accumulation_steps = 1 + a_.below(2),
                           .parts = a_.chance(0.9) ? processes_.size() + a_.below(3) : a_.integer(),
                           .clip_norm = a_.flag() ? 1.0 : 1e9,
                           .schedule = constant_schedule(lr),
                           .seed = a_.random().next() % 3,
                           .folder = saves ? folder_ : std::filesystem::path(),
                           .resume = saves && a_.chance(0.95),
                           .save_every_steps = a_.below(3),
                           .log_every_steps = 1,
                           .save_in_background = a_.flag(),
                           .processes = &processes_};
    // Options that differ are noticed before the first step.
    if (a_.chance(0.1) && fails_alone()) options.epochs += 7;
    ExponentialMovingAverage<float> average(model, 0.9);
    const bool averages = a_.chance(0.3), validates = a_.flag();
    Trainer trainer(
        model, optimizer, batches,
        [&](Tape<float>& tape, const Batch& batch) { return loss(tape, batch, model); }, options);
    if (averages) trainer.track_average(average);
    if (validates) trainer.validate_on(batches, {.every_steps = 2, .patience = 2});
    trainer.run();
    return bytes_of_parameters(model);
  }

  // Returns what was exchanged.
  std::string exchange() {
    const int from = static_cast<int>(a_.below(processes_.size()));
    const std::string own = str_cat("process ", processes_.rank());
    switch (a_.below(6)) {
      case 0:
        return processes_.broadcast(own, from);
      case 1: {
        const std::vector<std::string> texts = processes_.all_gather(own);
        return std::accumulate(texts.begin(), texts.end(), std::string());
      }
      case 2: {
        std::vector<double> values(static_cast<std::size_t>(a_.below(5)), processes_.rank());
        processes_.all_reduce(values);
        return str_cat(std::accumulate(values.begin(), values.end(), 0.0));
      }
      case 3:
        return processes_.broadcast_from_root([&] {
          if (failing_ >= 0) fail<ValueError>("a file", "one", "none");
          return own;
        });
      case 4: {
        Random random(static_cast<std::uint64_t>(processes_.rank()));
        Linear<float> model({.in_features = 2, .out_features = 1 + a_.below(40)}, random);
        broadcast_state(processes_, model);
        return bytes_of_parameters(model);
      }
      default:
        processes_.run_collectively([&] {
          fail_here();
          processes_.run_collectively([&] { fail_here(); });
        });
        return "together";
    }
  }

  Arguments& a_;
  ProcessGroup& processes_ = test_processes();
  TemporaryFolder own_folder_;
  std::filesystem::path folder_;  // that of the first process
  int failing_ = -1;              // the process that fails, or -1
  Index calls_ = 0;               // until it does
};

}  // namespace

TEST_CASE("random calls: several processes have the same result, or all an Error",
          "[processes][random]") {
  ProcessGroup& processes = test_processes();
  for_random_sequences(
      [](Arguments& arguments) {
        Session session(arguments);
        for (Index i = 2 + arguments.below(4); i > 0; --i) session.act();
      },
      6, [&](bool own) { return processes.broadcast(own ? "on" : "", 0) == "on"; });
}
