#include <iostream>

#include "examples/common/settings.hpp"
#include "examples/common/training_options.hpp"
#include "examples/common/training_report.hpp"
#include "examples/pronounce/commands.hpp"
#include "examples/pronounce/options.hpp"
#include "examples/pronounce/training.hpp"

namespace weft::pronounce {
namespace {

namespace fs = std::filesystem;

// Options that are not part of the configuration.
struct Options {
  std::string dictionary = default_dictionary;
  bool full = false;
  examples::TrainingOptions training = {.out = default_directory};
};

// Parses the command line. Returns false if --help is given.
bool parse(int argc, char** argv, ProcessGroup& processes, Options& options,
           Configuration& configuration) {
  examples::CommandLine line("pronounce train",
                             "Trains a model on a pronunciation dictionary. Holds out 5 % of the "
                             "words for validation and 5 % for testing.");
  dictionary_option(line, options.dictionary);
  line.flag("full", "train a larger model, which takes half an hour", options.full);
  options.training.add_to(line, "checkpoints, metrics and a report");
  examples::setting_options(line, configuration);
  if (!line.parse(argc, argv)) return false;
  // The record of a run does not ask for the values that --full has in this version.
  const bool asks_for_full = options.full;
  options.training.note(line, processes);

  if (options.full) configuration = Configuration::full();
  line.apply();
  configuration.reset_unused(line);
  const Configuration asked = configuration;
  if (options.training.resume &&
      examples::resume_configuration(options.training.out, line, configuration, processes) &&
      asks_for_full)
    examples::check_settings_equal(asked, configuration);
  configuration.reset_unused(line);
  configuration.check_state();
  return true;
}

// Returns the vocabularies of the training words, and stores them in the configuration. Throws
// ValueError if the configuration comes from a checkpoint with different vocabularies.
Language make_language(const Options& options, const Dataset& dataset,
                       Configuration& configuration) {
  const Language language = Language::of(dataset.train);
  if (!configuration.letters.empty() && Language::of(configuration) != language)
    fail<ValueError>("dictionary '" + options.dictionary + "'",
                     "the letters and phones of the checkpoint", "different letters or phones");
  language.store_in(configuration);
  return language;
}

}  // namespace

int train(ProcessGroup& processes, int argc, char** argv) {
  Options options;
  Configuration configuration = Configuration::quick();
  if (!parse(argc, argv, processes, options, configuration)) return 0;
  const fs::path directory = options.training.out;
  if (processes.is_root()) examples::check_outputs(directory, {options.dictionary});
  const Dataset dataset(options.dictionary, processes);
  const Language language = make_language(options, dataset, configuration);
  Random random(static_cast<std::uint64_t>(configuration.seed));
  Pronouncer<float> model(configuration, language, random);
  std::cout << dataset.train.size() << " training words, " << dataset.validation.size()
            << " validation words, " << dataset.test.size() << " test words\n"
            << "model with " << count_parameters(model) << " parameters, " << thread_count()
            << (thread_count() == 1 ? " thread\n" : " threads\n");

  // From here on, signals end training with a checkpoint.
  const SignalHandler interrupt;
  const TrainingResult result = examples::train_with_data("--dictionary", options.dictionary, [&] {
    return train_model(model, configuration, language, dataset,
                       options.training.for_trainer(interrupt, processes));
  });
  if (!processes.is_root()) return result.exit_status;
  std::cout << examples::describe(result, directory, "pronounce train") << '\n';
  return result.exit_status;
}

}  // namespace weft::pronounce
