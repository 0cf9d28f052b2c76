#include "examples/pronounce/training.hpp"

#include <algorithm>
#include <memory>
#include <ostream>

#include <weft/train/optim/adam.hpp>
#include "examples/pronounce/evaluation.hpp"

namespace weft::pronounce {
namespace {

Schedule schedule_of(const Configuration& configuration, Index batches) {
  const std::int64_t steps = configuration.epochs * batches;
  return warmup_cosine_schedule({.peak = configuration.lr,
                                 .warmup_steps = std::min(configuration.warmup, steps / 2),
                                 .total_steps = steps});
}

// The loss over all words to validate with, and the word error rate of some.
Validation validation_of(const Pronouncer<float>& model, const Language& language,
                         const std::vector<Entry>& entries) {
  auto batches =
      std::make_shared<PairBatches>(language.pairs(entries), BatchOptions{.batch_size = 256});
  const auto some = std::span(entries).first(std::min<std::size_t>(1000, entries.size()));
  return {
      .columns = {"validation_loss", "validation_word_error_rate"},
      .run = [&model, &language, batches, some]() -> std::vector<double> {
        return {mean_loss(model, *batches), error_rates(model, language, some).word_error_rate()};
      }};
}

}  // namespace

Words::Words(const std::filesystem::path& dictionary) {
  const std::vector<Entry> entries = read_dictionary(dictionary);
  train = entries_of(Split::train, entries);
  validation = entries_of(Split::validation, entries);
  test = entries_of(Split::test, entries);
  if (train.empty() || validation.empty())
    fail<FileError>("dictionary '" + dictionary.string() + "'",
                    "words to train on and to validate with",
                    concatenate_text(train.size(), " and ", validation.size()));
}

TrainingResult train_model(Pronouncer<float>& model, Configuration& configuration,
                           const Language& language, const Words& words, TrainerOptions options) {
  const auto seed = static_cast<std::uint64_t>(configuration.seed);
  AdamW<float> optimizer(model,
                         {.lr = configuration.lr, .weight_decay = configuration.weight_decay});
  if (options.output) *options.output << optimizer.description() << std::endl;
  PairBatches batches(language.pairs(words.train),
                      {.batch_size = configuration.batch, .seed = seed});
  options.epochs = configuration.epochs;
  options.parts = configuration.parts;
  options.clip_norm = configuration.clip_norm;
  options.schedule = schedule_of(configuration, batches.num_batches());
  options.seed = seed;
  options.validation = validation_of(model, language, words.validation);
  Trainer<float> trainer(
      model, optimizer, batches,
      [&](Tape<float>& tape, const Batch& batch) {
        return loss(model, tape, batch, configuration.label_smoothing);
      },
      std::move(options));
  trainer.also_save("configuration", configuration);
  return trainer.run();
}

}  // namespace weft::pronounce
