#include "tests/benchmarks/training.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
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

Sequence random_sequence(Index length, Index vocabulary, Random& random) {
  Sequence ids(static_cast<std::size_t>(length));
  for (TokenId& id : ids) id = static_cast<TokenId>(4 + random.below(vocabulary - 4));
  return ids;
}

// Trains until the time is over.
template <class B>
TrainingRate measure(ProcessGroup& processes, Module<float>& model, DataSource<B>& source,
                     const LossFunction<float, B>& loss, Index parts, double seconds) {
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
  TrainingRate rate;
  const double size = processes.size(), steps = static_cast<double>(times.size());
  rate.bytes_sent = static_cast<double>(processes.bytes_sent() - bytes_before) / size / steps;
  processes.sum(std::span(&rate.bytes_sent, 1));
  rate.least_bytes = 2.0 * (size - 1.0) / size * 4.0 * static_cast<double>(count_parameters(model));
  // The first two steps warm up.
  times.erase(times.begin(), times.begin() + 2);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  rate.median_seconds = *middle;
  return rate;
}

}  // namespace

TrainingRate measure_training(ProcessGroup& processes, const std::string& workload, Index parts,
                              double seconds) {
  Random random(1);
  TrainingRate rate;
  if (workload == "W3") {
    constexpr Index context = 256, batch = 8, vocabulary = 65;
    Gpt<float> model({.vocabulary_size = vocabulary,
                      .max_len = context,
                      .num_hiddens = 384,
                      .num_heads = 6,
                      .num_blocks = 6},
                     random);
    const Sequence text = random_sequence(20'000, vocabulary, random);
    WindowBatches<TokenId> windows(Tokens({std::ssize(text)}, text),
                                   {.length = context, .batch_size = batch});
    rate = measure<TensorBatch<TokenId>>(
        processes, model, windows,
        [&](Tape<float>& tape, const TensorBatch<TokenId>& examples) {
          return cross_entropy(model(tape, examples.inputs), examples.targets);
        },
        parts, seconds);
    rate.tokens = context * batch;
  } else if (workload == "W5") {
    constexpr Index length = 8, batch = 128;
    const pronounce::Configuration configuration = pronounce::Configuration::quick();
    std::vector<pronounce::Entry> words;
    for (const char letter : std::string("abcdefghijklmnopqrstuvwxyz'"))
      words.push_back({std::string(1, letter), {}});
    for (int phone = 0; phone < 39; ++phone)
      words.front().pronunciations.push_back({concatenate_text("P", phone)});
    const pronounce::Language language = pronounce::Language::of(words);
    pronounce::Pronouncer<float> model(configuration, language, random);
    std::vector<SequencePair> pairs(8 * batch);
    for (auto& [letters, phones] : pairs) {
      letters = random_sequence(length, language.letters.size(), random);
      phones = random_sequence(length - 1, language.phones.size(), random);
    }
    PairBatches batches(pairs, {.batch_size = batch});
    rate = measure<PairBatch>(
        processes, model, batches,
        [&](Tape<float>& tape, const PairBatch& examples) {
          return batch_loss(model, tape, examples,
                            {.label_smoothing = configuration.label_smoothing});
        },
        parts, seconds);
    rate.tokens = length * batch;
  } else {
    fail<ValueError>("workload", "W3 or W5", workload);
  }
  return rate;
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
