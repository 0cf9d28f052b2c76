#include "tests/benchmarks/training.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/layers/models/gpt.hpp>
#include <weft/train.hpp>
#include "examples/pronounce/model.hpp"

namespace weft::benchmarks {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TokenIds random_sequence(Index length, Index vocabulary, Random& random) {
  TokenIds ids(static_cast<std::size_t>(length));
  for (TokenId& id : ids) id = static_cast<TokenId>(4 + random.below(vocabulary - 4));
  return ids;
}

// The batches of another source again and again, in one epoch without end.
template <class B>
class Endless final : public DataSource<B> {
 public:
  explicit Endless(DataSource<B>& source) : source_(source) {}
  Index num_batches() const override { return Index{1} << 40; }
  B batch(std::int64_t epoch, Index position) override {
    return source_.batch(epoch, position % source_.num_batches());
  }
  std::uint64_t fingerprint() const override { return source_.fingerprint(); }

 private:
  DataSource<B>& source_;
};

// Calls run(model, source, loss, tokens).
template <class Run>
void with_training(const std::string& workload, const Run& run) {
  Random random(1);
  if (workload == "W1" || workload == "W3") {
    const bool is_small = workload == "W1";
    const Index context = is_small ? 10 : 256, batch = is_small ? 64 : 8;
    const Index vocabulary = is_small ? 30 : 65;
    Gpt<float> model({.vocabulary_size = vocabulary,
                      .max_len = context,
                      .num_hiddens = is_small ? 32 : 384,
                      .num_heads = is_small ? 4 : 6,
                      .num_blocks = is_small ? 2 : 6},
                     random);
    const TokenIds text = random_sequence(20'000, vocabulary, random);
    WindowBatches<TokenId> windows(Tokens({std::ssize(text)}, text),
                                   {.length = context, .batch_size = batch});
    const LossFunction<float, TensorBatch<TokenId>> loss =
        [&](Tape<float>& tape, const TensorBatch<TokenId>& examples) {
          return cross_entropy(model(tape, examples.inputs), examples.targets);
        };
    run(model, windows, loss, static_cast<double>(context * batch));
  } else if (workload == "W5") {
    constexpr Index length = 8, batch = 128;
    pronounce::Configuration configuration = pronounce::Configuration::quick();
    configuration.rms_norm = configuration.qk_norm = configuration.squared_relu = false;  // as W5
    std::vector<pronounce::Entry> words;
    for (const char letter : std::string("abcdefghijklmnopqrstuvwxyz'"))
      words.push_back({std::string(1, letter), {}});
    for (int phone = 0; phone < 39; ++phone)
      words.front().pronunciations.push_back({str_cat("P", phone)});
    const pronounce::Language language = pronounce::Language::of(words);
    pronounce::Pronouncer<float> model(configuration, language, random);
    std::vector<SequencePair> pairs(8 * batch);
    for (auto& [letters, phones] : pairs) {
      letters = random_sequence(length, language.letters.size(), random);
      phones = random_sequence(length - 1, language.phones.size(), random);
    }
    PairBatches batches(pairs, {.batch_size = batch});
    const LossFunction<float, PairBatch> loss = [&](Tape<float>& tape, const PairBatch& examples) {
      return batch_loss(model, tape, examples, {.label_smoothing = configuration.label_smoothing});
    };
    run(model, batches, loss, static_cast<double>(length * batch));
  } else {
    fail<ValueError>("workload", "W1, W3 or W5", workload);
  }
}

// Lets trainers on several threads compute in turn.
class Turns {
 public:
  explicit Turns(std::size_t trainers) : trainers_(trainers) {}
  void wait_for(std::size_t trainer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return current_ == trainer; });
  }
  void end_of(std::size_t trainer) {
    const std::lock_guard lock(mutex_);
    current_ = (trainer + 1) % trainers_;
    changed_.notify_all();
  }

 private:
  std::size_t trainers_;
  std::size_t current_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

TrainingRate measure_training(ProcessGroup& processes, const std::string& workload, Index parts,
                              double seconds) {
  TrainingRate rate;
  with_training(workload, [&](Module<float>& model, auto& source, const auto& loss, double tokens) {
    AdamW<float> optimizer(model, {.lr = 1e-3});
    std::vector<double> times;
    const std::int64_t bytes_before = processes.bytes_sent();
    const auto start = Clock::now();
    auto last = start;
    Trainer(model, optimizer, source, loss,
            {.epochs = 1'000'000'000,
             .parts = parts,
             .clip_norm = 1.0,
             .should_stop =
                 [&] {
                   times.push_back(seconds_since(last));
                   last = Clock::now();
                   return times.size() >= 7 && seconds_since(start) >= seconds;
                 },
             .processes = &processes})
        .run();
    const double size = processes.size(), steps = static_cast<double>(times.size());
    rate.bytes_sent = static_cast<double>(processes.bytes_sent() - bytes_before) / size / steps;
    processes.all_reduce(std::span(&rate.bytes_sent, 1));
    rate.least_bytes =
        2.0 * (size - 1.0) / size * 4.0 * static_cast<double>(count_parameters(model));
    // The first two steps warm up.
    times.erase(times.begin(), times.begin() + 2);
    rate.median_seconds = median_of(std::move(times));
    rate.tokens = tokens;
  });
  return rate;
}

std::vector<TrainerCost> measure_costs(const std::string& workload, double seconds) {
  constexpr std::size_t most_steps = 100;
  const std::vector<std::string> names{"alone", "alone again", "report", "TensorBoard", "profile"};
  const std::size_t count = names.size();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / str_cat("weft-costs-", getpid());
  std::vector<std::vector<double>> blocks(count);  // seconds of a step, by trainer
  std::vector<std::exception_ptr> errors(count);
  Turns turns(count);
  const int threads = thread_count();
  const auto start = Clock::now();
  std::atomic<bool> ends = false;
  const auto train = [&](std::size_t trainer) {
    set_thread_count(threads);
    with_training(workload, [&](Module<float>& model, auto& source, const auto& loss, double) {
      AdamW<float> optimizer(model, {.lr = 1e-3});
      Endless endless(source);
      const bool writes = names[trainer] == "report" || names[trainer] == "TensorBoard";
      std::size_t steps = 0;
      auto block_start = Clock::now();
      // The first step of a turn is not measured: caches have what others left.
      const auto after_step = [&] {
        if (steps++ == 0) {
          block_start = Clock::now();
          return false;
        }
        const double elapsed = seconds_since(block_start);
        if (elapsed < 0.05 && steps <= most_steps) return false;
        blocks[trainer].push_back(elapsed / static_cast<double>(steps - 1));
        steps = 0;
        if (trainer + 1 == count)
          ends = blocks[trainer].size() >= 5 && seconds_since(start) >= seconds;
        turns.end_of(trainer);
        turns.wait_for(trainer);
        return ends.load();
      };
      Trainer(model, optimizer, endless, loss,
              {.clip_norm = 1.0,
               .should_stop = after_step,
               .folder = writes ? folder / names[trainer] : std::filesystem::path(),
               .tensorboard = names[trainer] == "TensorBoard",
               .profile = names[trainer] == "profile"})
          .run();
    });
  };
  std::vector<std::thread> trainers;
  for (std::size_t i = 0; i < count; ++i)
    trainers.emplace_back([&, i] {
      turns.wait_for(i);
      try {
        train(i);
      } catch (...) {
        errors[i] = std::current_exception();
        ends = true;
      }
      turns.end_of(i);
    });
  for (std::thread& trainer : trainers) trainer.join();
  std::filesystem::remove_all(folder);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  // As many blocks of each, without the first ones.
  std::size_t rounds = blocks[0].size();
  for (auto& of_trainer : blocks) rounds = std::min(rounds, of_trainer.size());
  std::vector<TrainerCost> costs;
  const auto sum = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i].resize(rounds);
    blocks[i].erase(blocks[i].begin());
    std::vector<double> ratios;
    for (std::size_t k = 0; k < blocks[i].size(); ++k)
      ratios.push_back(blocks[i][k] / blocks[0][k]);
    costs.push_back({names[i], median_of(blocks[i]), median_of(ratios) - 1.0,
                     sum(blocks[i]) / sum(blocks[0]) - 1.0});
  }
  return costs;
}

MessageRate measure_messages(ProcessGroup& processes) {
  const auto seconds_of = [&](std::size_t size, int rounds) {
    std::vector<std::byte> bytes(size);
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      const auto start = Clock::now();
      if (processes.rank() == 0) {
        processes.send(bytes, 1);
        processes.receive(bytes, 1);
      } else if (processes.rank() == 1) {
        processes.receive(bytes, 0);
        processes.send(bytes, 0);
      }
      times.push_back(seconds_since(start) / 2.0);
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  constexpr std::size_t large = std::size_t{4} << 20;
  return {seconds_of(1, 2001), static_cast<double>(large) / seconds_of(large, 51)};
}

}  // namespace weft::benchmarks
