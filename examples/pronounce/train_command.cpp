#include <iostream>

#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/pictures.hpp"
#include "examples/pronounce/saved_model.hpp"
#include "examples/pronounce/training.hpp"

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
  line.flag("full", "train half an hour for fewer errors", options.full);
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
  Random random(static_cast<std::uint64_t>(configuration.seed));
  Pronouncer<float> model(configuration, language, random);
  std::cout << words.train.size() << " words to train on, " << words.validation.size()
            << " for validation, " << words.test.size() << " for the test\n"
            << "model with " << count_parameters(model) << " parameters, threads " << thread_count()
            << '\n';

  const fs::path folder = options.out;
  const TrainingResult result = train_model(model, configuration, language, words,
                                            {.max_steps = options.max_steps,
                                             .folder = folder,
                                             .resume = options.resume,
                                             .save_every_steps = options.save_every,
                                             .output = &std::cout,
                                             .interrupt = &interrupt});
  std::cout << to_text(result.end) << " after " << result.steps << " steps; weights in "
            << (folder / (result.best_step > 0 ? "best.h5" : "last.h5")).string() << '\n'
            << draw_losses(folder / "metrics.csv", folder / "loss.svg") << '\n';
  return result.end == TrainingEnd::interrupted ? Interrupt::exit_status : 0;
}

}  // namespace weft::pronounce
