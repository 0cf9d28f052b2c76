// SavedModel: a language model and its tokens, loaded from a file or a folder.
#pragma once

#include <filesystem>

#include <weft/autograd/precision.hpp>
#include <weft/train/pretrained/pretrained.hpp>

namespace weft::gpt {

struct SavedModel : LoadedModel<Gpt<float>> {
  // Loads what load_gpt loads, a checkpoint that an earlier version of `gpt train` wrote, or a
  // folder with adapter_config.json: the adapters of `gpt finetune`, merged with their model.
  // Throws FileError, naming the file, if one cannot be read, does not fit the others, or if there
  // are no tokens. With Precision::bf16, the weights are rounded to it.
  static SavedModel load(const std::filesystem::path& path, Precision weights = Precision::full);

  // The folder of a Hugging Face model; empty for a checkpoint.
  std::filesystem::path folder = {};

  // The largest number of tokens that the model predicts from.
  Index context() const { return model.options.max_len; }
};

}  // namespace weft::gpt
