#include <iostream>

#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/evaluation.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/pictures.hpp"
#include "examples/pronounce/saved_model.hpp"
#include "train/train.hpp"

namespace weft::pronounce {
namespace {

namespace fs = std::filesystem;

// What the command line says beside the configuration.
struct Options {
  std::string dictionary = default_dictionary;
  std::string out = default_folder;
  bool full = false;
  bool resume = false;
  std::int64_t save_every = 0;
  std::int64_t max_steps = 0;
};

// Reads the command line. False when help was asked for.
bool parse(int argc, char** argv, Options& options, Configuration& configuration) {
  constexpr std::int64_t many = 1'000'000'000;
  examples::CommandLine line("pronounce train",
                             "Learns from a dictionary how words are pronounced. Words are held "
                             "out by their spelling: 5 % for validation, 5 % for the test.");
  dictionary_option(line, options.dictionary);
  line.option("out", "folder for checkpoints, metrics and picture", options.out);
  line.flag("full", "train up to an hour for fewer errors", options.full);
  line.flag("resume", "go on from the folder's last checkpoint, if there is one", options.resume);
  line.option("save-every", "steps between checkpoints, beside one an epoch; 0: none",
              options.save_every, 0, many);
  line.option("max-steps", "steps after which to end even if epochs are left; 0: no limit",
              options.max_steps, 0, many);
  configuration.for_each_setting(
      [&](const std::string& name, const std::string& description, auto& value, auto lowest,
          auto highest) { line.option(name, description, value, lowest, highest); });
  if (!line.parse(argc, argv)) return false;

  if (options.full) configuration = Configuration::full();
  line.apply();
  const fs::path checkpoint = fs::path(options.out) / "last.h5";
  if (options.resume && fs::exists(checkpoint)) {
    const Configuration stored = load_configuration(checkpoint);
    configuration = stored;
    line.apply();
    configuration.check_settings_of(stored);
  }
  configuration.check_state();
  return true;
}

// The words of each part. Throws FileError when there is none to train on or to validate with.
struct Words {
  explicit Words(const std::string& dictionary) {
    const std::vector<Entry> entries = read_dictionary(dictionary);
    train = entries_of(Part::train, entries);
    validation = entries_of(Part::validation, entries);
    test = entries.size() - train.size() - validation.size();
    if (train.empty() || validation.empty())
      fail<FileError>("dictionary '" + dictionary + "'", "words to train on and to validate with",
                      concatenate_text(train.size(), " and ", validation.size()));
  }

  std::vector<Entry> train, validation;
  std::size_t test = 0;
};

// The letters and phones of the words to train on, which become part of the configuration. Throws
// ValueError when the configuration, of a checkpoint, has others.
Language learn_language(const Options& options, const Words& words, Configuration& configuration) {
  const Language language = Language::of(words.train);
  if (!configuration.letters.empty() && Language::of(configuration) != language)
    fail<ValueError>("dictionary '" + options.dictionary + "'",
                     "the letters and phones of the checkpoint", "others");
  language.keep_in(configuration);
  return language;
}

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

const char* to_text(TrainingEnd end) {
  switch (end) {
    case TrainingEnd::finished:
      return "finished";
    case TrainingEnd::stopped_early:
      return "stopped early";
    case TrainingEnd::interrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

int train(int argc, char** argv) {
  Options options;
  Configuration configuration = Configuration::quick();
  if (!parse(argc, argv, options, configuration)) return 0;
  const Interrupt interrupt;

  const Words words(options.dictionary);
  const Language language = learn_language(options, words, configuration);
  const auto seed = static_cast<std::uint64_t>(configuration.seed);
  Random random(seed);
  Pronouncer<float> model(configuration, language, random);
  AdamW<float> optimizer(model,
                         {.lr = configuration.lr, .weight_decay = configuration.weight_decay});
  PairBatches batches(language.pairs(words.train),
                      {.batch_size = configuration.batch, .seed = seed});
  std::cout << words.train.size() << " words to train on, " << words.validation.size()
            << " for validation, " << words.test << " for the test\n"
            << "model with " << count_parameters(model) << " parameters, threads " << thread_count()
            << '\n'
            << optimizer.description() << std::endl;

  const fs::path folder = options.out;
  Trainer<float> trainer(model, optimizer, batches,
                         [&](Tape<float>& tape, const Batch& batch) {
                           return loss(model, tape, batch, configuration.label_smoothing);
                         },
                         {.epochs = configuration.epochs,
                          .max_steps = options.max_steps,
                          .parts = configuration.parts,
                          .clip_norm = configuration.clip_norm,
                          .schedule = schedule_of(configuration, batches.num_batches()),
                          .seed = seed,
                          .validation = validation_of(model, language, words.validation),
                          .folder = folder,
                          .resume = options.resume,
                          .save_every_steps = options.save_every,
                          .output = &std::cout,
                          .interrupt = &interrupt});
  trainer.also_save("configuration", configuration);
  const TrainingResult result = trainer.run();

  std::cout << to_text(result.end) << " after " << result.steps << " steps; weights in "
            << (folder / (result.best_step > 0 ? "best.h5" : "last.h5")).string() << '\n'
            << draw_losses(folder / "metrics.csv", folder / "loss.svg") << '\n';
  return result.end == TrainingEnd::interrupted ? Interrupt::exit_status : 0;
}

}  // namespace weft::pronounce
