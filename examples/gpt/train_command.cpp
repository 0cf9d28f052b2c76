#include <iostream>

#include <weft/autograd/parallel.hpp>
#include <weft/layers/summary.hpp>
#include "examples/common/output_files.hpp"
#include "examples/common/settings.hpp"
#include "examples/common/training_options.hpp"
#include "examples/common/training_report.hpp"
#include "examples/gpt/commands.hpp"
#include "examples/gpt/options.hpp"
#include "examples/gpt/texts.hpp"
#include "examples/gpt/tokenizer.hpp"
#include "examples/gpt/training.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

// Options that are not part of the configuration.
struct Options {
  std::string text = licences.string();
  std::string preset = "muon";
  std::string tokenizer = "characters";
  std::string tokenizer_files;
  Tokenizer stored;  // of the checkpoint to resume from, if any
  examples::TrainingOptions training = {.out = default_folder};
};

std::string kind_of(const Tokenizer& tokenizer) {
  return tokenizer.get_if<Vocabulary>() ? "characters" : "bytepairs";
}

// Reads the tokenizer of a checkpoint in the root process and returns it in every process.
Tokenizer read_tokenizer(const fs::path& checkpoint, ProcessGroup& processes) {
  Tokenizer::Text text;
  text.kind = processes.broadcast_from_root([&] {
    text = tokenizer_of(checkpoint).to_text();
    return text.kind;
  });
  text.tokens = processes.broadcast_from_root([&] { return text.tokens; });
  text.merges = processes.broadcast_from_root([&] { return text.merges; });
  return Tokenizer::from_text(text);
}

// Parses the command line. Returns false if --help is given.
bool parse(int argc, char** argv, ProcessGroup& processes, Options& options,
           Configuration& configuration) {
  examples::CommandLine line(
      "gpt train",
      "Trains a language model on the first 90 % of a text, and validates it "
      "on the last 10 %.");
  line.option("text", "UTF-8 text file, or folder of text files", options.text);
  line.choice("preset", "defaults for the options below", options.preset, Configuration::presets);
  line.choice("tokenizer", "kind of tokens (byte pairs are learned from the training text)",
              options.tokenizer, {"characters", "bytepairs"});
  line.option("tokenizer-files",
              "folder with GPT-2's vocab.json and merges.txt; use its byte pairs as tokens",
              options.tokenizer_files);
  options.training.add_to(line, "checkpoints, metrics and a report");
  examples::setting_options(line, configuration);
  if (!line.parse(argc, argv)) return false;
  options.training.note(line, processes);

  const bool asks_for_bias = configuration.bias;  // the default preset has none
  configuration = Configuration::preset(options.preset);
  if (options.preset == "gpt2" || !options.tokenizer_files.empty()) options.tokenizer = "bytepairs";
  line.apply();
  configuration.reset_unused(line);
  if (configuration.modern && asks_for_bias)
    fail<examples::UsageError>("command line", "either --modern or --bias", "both");
  if (options.tokenizer == "characters" && !options.tokenizer_files.empty())
    fail<examples::UsageError>("command line", "either --tokenizer characters or --tokenizer-files",
                               "both");
  if (options.tokenizer == "characters" || !options.tokenizer_files.empty())
    line.without_effect({"vocabulary"}, "unless tokens are learned (--tokenizer bytepairs)");
  const Configuration asked = configuration;
  if (options.training.resume &&
      examples::resume_configuration(options.training.out, line, configuration, processes)) {
    // The given options must agree with the checkpoint.
    options.stored = read_tokenizer(fs::path(options.training.out) / "last.h5", processes);
    const std::string stored = kind_of(options.stored);
    options.tokenizer = stored;
    options.preset.clear();
    line.apply();
    if (options.tokenizer != stored) fail<ValueError>("--tokenizer", stored, options.tokenizer);
    if (!options.preset.empty()) examples::check_settings_equal(asked, configuration);
  }
  configuration.reset_unused(line);
  configuration.check_state();
  return true;
}

Tokenizer new_tokenizer(const Options& options, const Configuration& configuration,
                        const std::string& text) {
  if (!options.tokenizer_files.empty()) {
    const fs::path folder = options.tokenizer_files;
    return BytePairEncoding::load(folder / "vocab.json", folder / "merges.txt");
  }
  if (options.tokenizer == "characters") return Vocabulary::of_characters(text);
  return BytePairEncoding::learn(TextSplit(text).training, configuration.vocabulary);
}

// Returns the tokenizer of the checkpoint to resume from, or a new tokenizer if training starts
// from the beginning. Throws ValueError if the options ask for different tokens than the
// checkpoint's.
Tokenizer make_tokenizer(const Options& options, const Configuration& configuration,
                         const std::string& text) {
  if (!options.stored.empty() && options.tokenizer_files.empty()) return options.stored;
  Tokenizer tokenizer = new_tokenizer(options, configuration, text);
  if (!options.stored.empty() && tokenizer != options.stored)
    fail<ValueError>("--tokenizer-files", "the tokens of the checkpoint", "different tokens");
  return tokenizer;
}

TokenSplit encode(const Tokenizer& tokenizer, const std::string& text) {
  const TextSplit split(text);
  return {tokenizer.encode(split.training), tokenizer.encode(split.validation)};
}

}  // namespace

int train(ProcessGroup& processes, int argc, char** argv) {
  Options options;
  Configuration configuration = Configuration::preset(options.preset);
  if (!parse(argc, argv, processes, options, configuration)) return 0;
  const fs::path directory = options.training.out;
  const std::string text = processes.broadcast_from_root([&] { return read_texts(options.text); });
  // Check the output before learning byte pairs, which takes time.
  processes.broadcast_from_root([&] {
    examples::make_directory(directory);
    examples::check_outputs(directory, {options.text, options.tokenizer_files});
    return std::string();
  });
  const Tokenizer tokenizer = make_tokenizer(options, configuration, text);
  const TokenSplit tokens = encode(tokenizer, text);
  Random random(static_cast<std::uint64_t>(configuration.seed));
  Gpt<float> model(configuration.model_options(tokenizer.size()), random);
  std::cout << text.size() << " bytes of text, " << tokens.training.size()
            << " tokens for training, " << tokens.validation.size() << " for validation, "
            << "vocabulary of " << tokenizer.size() << "\n"
            << "model with " << count_parameters(model) << " parameters, " << thread_count()
            << (thread_count() == 1 ? " thread\n" : " threads\n");

  // From here on, signals end training with a checkpoint.
  const SignalHandler interrupt;
  const TrainingResult result = examples::train_with_data(
      "--text", options.text,
      [&] {
        return train_model(model, configuration, tokenizer, tokens,
                           options.training.for_trainer(interrupt, processes));
      },
      str_cat("To train the model on another text: gpt finetune --model ", directory.string(),
              " --data ", options.text));
  if (!processes.is_root()) return result.exit_status;
  std::cout << examples::describe(result, directory, "gpt train") << '\n';
  return result.exit_status;
}

}  // namespace weft::gpt
