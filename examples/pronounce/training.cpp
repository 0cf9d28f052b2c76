#include "examples/pronounce/training.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>
#include <sstream>

#include <weft/train/evaluation.hpp>
#include <weft/train/losses.hpp>
#include <weft/train/optim/adam.hpp>
#include "examples/common/text_input.hpp"
#include "examples/pronounce/evaluation.hpp"

namespace weft::pronounce {
namespace {

Schedule make_schedule(const Configuration& configuration, Index batches_per_epoch) {
  const std::int64_t steps = configuration.epochs * batches_per_epoch;
  return warmup_cosine_schedule({.peak = configuration.lr,
                                 .warmup_steps = std::min(configuration.warmup, steps / 2),
                                 .total_steps = steps});
}

// The loss on all entries, and the word error rate on the first 1000, which takes longer.
Validation make_validation(const Pronouncer<float>& model, const Language& language,
                           const std::vector<Entry>& entries, Index parts,
                           ProcessGroup* processes) {
  auto batches =
      std::make_shared<PairBatches>(language.pairs(entries), BatchOptions{.batch_size = 256});
  const auto sample = std::span(entries).first(std::min<std::size_t>(1000, entries.size()));
  return {.columns = {"validation_loss", "validation_word_error_rate"},
          .run = [&model, &language, batches, sample, parts, processes]() -> std::vector<double> {
            const auto model_loss = [&](Tape<float>& tape, const PairBatch& batch) {
              return batch_loss(model, tape, batch);
            };
            return {mean_loss(*batches, model_loss, parts, processes),
                    error_rates(model, language, sample).word_error_rate()};
          }};
}

}  // namespace

Dataset::Dataset(const std::filesystem::path& dictionary, ProcessGroup& processes) {
  const std::string name = "dictionary '" + dictionary.string() + "'";
  std::istringstream text(processes.from_first([&] {
    std::ifstream file = examples::open_text(dictionary, name, max_vocabulary_bytes);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }));
  const std::vector<Entry> entries = read_dictionary(text, name);
  train = entries_of(Split::train, entries);
  validation = entries_of(Split::validation, entries);
  test = entries_of(Split::test, entries);
  if (train.empty() || validation.empty())
    fail<FileError>(name, "at least one training and one validation word",
                    concatenate_text(train.size(), " and ", validation.size()));
}

TrainingResult train_model(Pronouncer<float>& model, Configuration& configuration,
                           const Language& language, const Dataset& dataset,
                           TrainerOptions options) {
  const auto seed = static_cast<std::uint64_t>(configuration.seed);
  AdamW<float> optimizer(model,
                         {.lr = configuration.lr, .weight_decay = configuration.weight_decay});
  if (options.output) *options.output << optimizer.description() << std::endl;
  PairBatches batches(language.pairs(dataset.train),
                      {.batch_size = configuration.batch, .seed = seed});
  options.epochs = configuration.epochs;
  options.parts = configuration.parts;
  options.clip_norm = configuration.clip_norm;
  options.schedule = make_schedule(configuration, batches.num_batches());
  options.seed = seed;
  Validation validation =
      make_validation(model, language, dataset.validation, options.parts, options.processes);
  Trainer trainer(
      model, optimizer, batches,
      [&](Tape<float>& tape, const PairBatch& batch) {
        return batch_loss(model, tape, batch, {.label_smoothing = configuration.label_smoothing});
      },
      std::move(options));
  trainer.validate_with(std::move(validation));
  trainer.also_save("configuration", configuration);
  return trainer.run();
}

}  // namespace weft::pronounce
