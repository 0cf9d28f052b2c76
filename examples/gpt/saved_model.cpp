#include "examples/gpt/saved_model.hpp"

#include <weft/autograd/error.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include <weft/train/weights/weights.hpp>
#include "examples/common/settings.hpp"
#include "examples/common/weights_size.hpp"
#include "examples/gpt/config_json.hpp"
#include "examples/gpt/configuration.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

// The number of weights in the matrices of such a model.
double weights_of(const GptOptions& options) {
  const auto number = [](Index index) { return static_cast<double>(index); };
  const double width = number(options.num_hiddens),
               ffn = number(options.ffn_num_hiddens.value_or(4 * options.num_hiddens));
  return width * (number(options.vocabulary_size + options.max_len) +
                  number(options.num_blocks) * (4 * width + 2 * ffn));
}

// Random weights, which those of the file overwrite.
Gpt<float> initial_model(const GptOptions& options, const fs::path& config) {
  Random random(0);
  try {
    return Gpt<float>(options, random);
  } catch (const Error& error) {
    fail<FileError>("configuration '" + config.string() + '\'', "settings of a model",
                    error.what());
  }
}

// A model may have more tokens than the vocabulary: nanoGPT rounds their number up to a multiple of
// 64.
SavedModel load_converted(const fs::path& folder) {
  const fs::path config = folder / "config.json", weights = folder / "model.h5";
  const BytePairEncoding encoding =
      BytePairEncoding::load(folder / "vocab.json", folder / "merges.txt");
  const GptOptions options = gpt_options(config);
  if (options.vocabulary_size < encoding.size())
    fail<FileError>("configuration '" + config.string() + "': vocab_size",
                    concatenate_text("at least the ", encoding.size(), " tokens of vocab.json"),
                    options.vocabulary_size);
  examples::check_weights_size(weights, config, weights_of(options));
  SavedModel saved{Tokenizer(encoding), initial_model(options, config), options.max_len};
  (void)load_weights(weights, saved.model);
  return saved;
}

SavedModel load_trained(const fs::path& checkpoint) {
  const auto configuration = examples::load_configuration<Configuration>(checkpoint);
  Tokenizer tokenizer = Tokenizer::of(configuration);
  Random random(0);
  SavedModel saved{tokenizer, Gpt<float>(configuration.model_options(tokenizer.size()), random),
                   configuration.context};
  load_checkpoint(checkpoint, saved.model);
  return saved;
}

SavedModel load_any(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return load_trained(path);
  if (fs::exists(path / "config.json", error)) return load_converted(path);
  if (fs::exists(path / "best.h5", error)) return load_trained(path / "best.h5");
  fail<FileError>("folder '" + path.string() + '\'', "best.h5 or config.json", "neither");
}

}  // namespace

SavedModel SavedModel::load(const fs::path& path, Precision weights) {
  SavedModel saved = load_any(path);
  if (weights == Precision::bf16) round_to_bf16(saved.model);
  return saved;
}

}  // namespace weft::gpt
