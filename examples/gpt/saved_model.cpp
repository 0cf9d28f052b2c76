#include "examples/gpt/saved_model.hpp"

#include <weft/autograd/error.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/json_config.hpp"
#include "examples/common/settings.hpp"
#include "examples/gpt/configuration.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

Tokenizer load_tokenizer(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "tokenizer.json", error))
    return Tokenizer(PretrainedTokenizer::load(folder / "tokenizer.json"));
  return Tokenizer(BytePairEncoding::load(folder / "vocab.json", folder / "merges.txt"));
}

// A model may have more tokens than the vocabulary: nanoGPT rounds their number up to a multiple of
// 64.
SavedModel load_pretrained(const fs::path& folder) {
  Tokenizer tokenizer = load_tokenizer(folder);
  PretrainedGpt description = read_pretrained_gpt(folder);
  const GptOptions& options = description.options;
  if (options.vocabulary_size < tokenizer.size())
    fail<FileError>("configuration '" + (folder / "config.json").string() + "': vocab_size",
                    str_cat("at least the ", tokenizer.size(), " tokens of the vocabulary"),
                    options.vocabulary_size);
  const Index context = options.max_len;
  return {std::move(tokenizer), load_pretrained_gpt(folder), context, std::move(description),
          folder};
}

SavedModel load_adapted(const fs::path& folder) {
  const fs::path config = folder / "adapter_config.json";
  const fs::path base = examples::JsonConfig(config).text("base_model_name_or_path");
  const fs::path base_folder = base.is_absolute() ? base : folder / base;
  // Which of its adapters, before or after these were trained, would not be known.
  if (std::error_code error; fs::exists(base_folder / "adapter_config.json", error) &&
                             !fs::equivalent(base_folder, folder, error))
    fail<FileError>("'" + base_folder.string() + "', the base of '" + config.string() + "'",
                    "a model without adapters of its own", "one with adapter_config.json");
  SavedModel saved = load_pretrained(base_folder);
  load_lora(folder, saved.model);
  merge_lora(saved.model);
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
  if (fs::exists(path / "adapter_config.json", error)) return load_adapted(path);
  if (fs::exists(path / "config.json", error)) return load_pretrained(path);
  if (fs::exists(path / "best.h5", error)) return load_trained(path / "best.h5");
  fail<FileError>("folder '" + path.string() + '\'', "best.h5, config.json or adapter_config.json",
                  "none of them");
}

}  // namespace

SavedModel SavedModel::load(const fs::path& path, Precision weights) {
  SavedModel saved = load_any(path);
  if (weights == Precision::bf16) round_to_bf16(saved.model);
  return saved;
}

TokenIds SavedModel::ends() const { return description ? description->ends : tokenizer.ends(); }

}  // namespace weft::gpt
