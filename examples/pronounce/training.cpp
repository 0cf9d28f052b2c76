#include "examples/pronounce/training.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <ostream>
#include <sstream>

#include <weft/train/evaluation.hpp>
#include <weft/train/losses.hpp>
#include "examples/common/attention_maps.hpp"
#include "examples/common/settings.hpp"
#include "examples/common/text_input.hpp"
#include "examples/pronounce/evaluation.hpp"

namespace weft::pronounce {
namespace {

std::string text_of(const Phones& phones) {
  std::string text;
  for (const std::string& phone : phones) text += (text.empty() ? "" : " ") + phone;
  return text;
}

// Validates the loss on all entries, and the word error rate, which takes longer, on the first
// 1000.
Validation make_validation(const Pronouncer<float>& model, const Language& language,
                           const std::vector<Entry>& entries, const PartLimits& parts,
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

// Adds to the report the model's pronunciations of some words, and its attention over the letters
// of the first few.
void show_words(ReportSection& section, const Pronouncer<float>& model, const Language& language,
                std::span<const Entry> entries) {
  constexpr std::size_t most_words = 12, most_maps = 2;
  std::vector<std::vector<std::string>> rows;
  std::vector<TokenIds> words;
  for (const Entry& entry : entries) {
    if (words.size() == most_words) break;
    if (!language.can_encode(entry.word)) continue;
    words.push_back(language.encode(entry.word));
    rows.push_back({entry.word, "", text_of(entry.pronunciations.front())});
  }
  const auto answers = greedy_search(model, words);
  for (std::size_t i = 0; i < words.size(); ++i)
    rows[i][1] = text_of(language.decode(answers[i].tokens));
  section.table("words", {"word", "the model says", "the dictionary"}, rows);
  for (std::size_t i = 0; i < std::min(words.size(), most_maps); ++i) {
    std::vector<AttentionMap> maps;
    for (auto& [title, values] : examples::cross_attention_maps(model, words[i], answers[i].tokens))
      maps.push_back({title, values});
    section.attention("attention of phones over the letters of “" + rows[i][0] + "”",
                      examples::answer_names(language.phones, answers[i].tokens),
                      language.letters.decode(words[i]), std::move(maps));
  }
}

}  // namespace

Dataset::Dataset(const std::filesystem::path& dictionary, ProcessGroup& processes) {
  const std::string name = "dictionary '" + dictionary.string() + "'";
  std::istringstream text(processes.broadcast_from_root([&] {
    std::ifstream file = examples::open_text(dictionary, name, max_vocabulary_bytes);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }));
  const std::vector<Entry> entries = read_dictionary(text, name);
  train = entries_of(Split::train, entries);
  validation = entries_of(Split::validation, entries);
  test = entries_of(Split::test, entries);
  if (train.empty() || validation.empty())
    fail<FileError>(name, "at least one training and one validation word",
                    str_cat(train.size(), " and ", validation.size()));
}

TrainingResult train_model(Pronouncer<float>& model, Configuration& configuration,
                           const Language& language, const Dataset& dataset,
                           TrainerOptions options) {
  const auto seed = static_cast<std::uint64_t>(configuration.seed);
  const std::unique_ptr<Optimizer<float>> optimizer = configuration.make_optimizer(model);
  if (options.output) *options.output << optimizer->description() << std::endl;
  PairBatches batches(language.pairs(dataset.train),
                      {.batch_size = configuration.batch, .seed = seed});
  options.epochs = configuration.epochs;
  options.parts = configuration.parts;
  options.clip_norm = configuration.clip_norm;
  const std::int64_t steps = configuration.epochs * batches.num_batches();
  options.schedule = configuration.make_schedule(steps);
  options.settings_in_use = {{"warmup", str_cat(configuration.warmup_steps(steps))}};
  options.seed = seed;
  Validation validation = make_validation(model, language, dataset.validation,
                                          part_limits(options.parts, model), options.processes);
  Trainer trainer(
      model, *optimizer, batches,
      [&](Tape<float>& tape, const PairBatch& batch) {
        // Labels are smoothed only in training; validations use the plain loss.
        return batch_loss(
            model, tape, batch,
            {.label_smoothing = tape.training() ? configuration.label_smoothing : 0.0});
      },
      std::move(options));
  trainer.validate_with(std::move(validation));
  examples::ConfigurationInUse in_use(configuration);
  trainer.register_for_checkpointing("configuration", in_use);
  trainer.show_examples([&](ReportSection& section) {
    show_words(section, model, language, std::span(dataset.validation));
  });
  return trainer.run();
}

}  // namespace weft::pronounce
