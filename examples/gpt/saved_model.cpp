#include "examples/gpt/saved_model.hpp"

#include <weft/autograd/error.hpp>
#include <weft/layers/round_to_bf16.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/pretrained/lora_weights.hpp>
#include <weft/train/weights/checkpoint.hpp>
#include "examples/common/json_config.hpp"
#include "examples/common/settings.hpp"
#include "examples/gpt/configuration.hpp"
#include "examples/gpt/tokenizer.hpp"

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// Whether a file is a checkpoint of weft 0.2, which did not store the options of the model.
bool is_earlier(const fs::path& checkpoint) {
  return is_there(checkpoint) && !Hdf5File(checkpoint).has_attribute("/", "model_type");
}

SavedModel load_earlier(const fs::path& checkpoint) {
  const auto configuration = examples::load_configuration<Configuration>(checkpoint);
  Tokenizer tokenizer = tokenizer_of(checkpoint);
  Random zeros = Random::zeros();
  SavedModel saved{{Gpt<float>(configuration.model_options(tokenizer.size()), zeros), tokenizer,
                    tokenizer.eos_token_ids()}};
  load_checkpoint(checkpoint, saved.model);
  return saved;
}

SavedModel load_model(const fs::path& path) {
  std::error_code error;
  const bool is_pretrained = is_there(path / "config.json");
  const fs::path checkpoint = fs::is_directory(path, error) ? path / "best.h5" : path;
  if (!is_pretrained && is_earlier(checkpoint)) return load_earlier(checkpoint);
  SavedModel saved{load_gpt(path), is_pretrained ? path : fs::path()};
  if (saved.tokenizer.empty())
    fail<FileError>("'" + path.string() + "'", "a model with a tokenizer",
                    is_pretrained ? "neither tokenizer.json nor vocab.json" : "no tokenizer");
  return saved;
}

SavedModel load_adapted(const fs::path& folder) {
  const fs::path config = folder / "adapter_config.json";
  const fs::path base = examples::JsonConfig(config).text("base_model_name_or_path");
  const fs::path base_folder = base.is_absolute() ? base : folder / base;
  // If the base has adapters, it is unknown whether these adapters were trained with them.
  if (std::error_code error;
      is_there(base_folder / "adapter_config.json") && !fs::equivalent(base_folder, folder, error))
    fail<FileError>("'" + base_folder.string() + "', the base of '" + config.string() + "'",
                    "a model without adapters", "adapter_config.json");
  SavedModel saved = load_model(base_folder);
  load_lora(folder, saved.model);
  merge_lora(saved.model);
  return saved;
}

}  // namespace

SavedModel SavedModel::load(const fs::path& path, Precision weights) {
  SavedModel saved = is_there(path / "adapter_config.json") ? load_adapted(path) : load_model(path);
  if (weights == Precision::bf16) round_to_bf16(saved.model);
  return saved;
}

}  // namespace weft::gpt
