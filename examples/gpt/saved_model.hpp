// SavedModel: a language model with its tokenizer, loaded from a file or a folder.
#pragma once

#include <filesystem>

#include <weft/autograd/precision.hpp>
#include <weft/train/pretrained/pretrained.hpp>

namespace weft::gpt {

struct SavedModel : LoadedModel<Gpt<float>> {
  // Loads any model that load_gpt loads, a checkpoint that an earlier version of `gpt train` wrote,
  // or a folder with adapter_config.json, whose adapters are merged with their base model. Throws
  // FileError, naming the file, if a file cannot be read or does not match the other files, or if
  // there is no tokenizer. With Precision::bf16, the weights are rounded to bf16.
  static SavedModel load(const std::filesystem::path& path, Precision weights = Precision::full);

  // The folder of a Hugging Face model; empty for a checkpoint.
  std::filesystem::path folder = {};

  // The maximum number of tokens that the model predicts from.
  Index context() const { return model.options.max_len; }
};

}  // namespace weft::gpt
