// SavedModel: a language model and its tokens, loaded from a file or a folder.
#pragma once

#include <filesystem>
#include <optional>

#include <weft/layers/models/gpt.hpp>
#include <weft/train/pretrained/pretrained.hpp>
#include "examples/gpt/tokenizer.hpp"

namespace weft::gpt {

struct SavedModel {
  // Loads a checkpoint of `gpt train`, or best.h5 of a folder; of a folder with config.json the
  // model of Hugging Face (see load_pretrained_gpt) with tokenizer.json, or vocab.json and
  // merges.txt; or of a folder with adapter_config.json the adapters of `gpt finetune`, and their
  // model. Throws FileError, naming the file, when one cannot be read or does not fit the others.
  // With Precision::bf16, the weights are rounded to it.
  static SavedModel load(const std::filesystem::path& path, Precision weights = Precision::full);

  Tokenizer tokenizer;
  Gpt<float> model;
  // The most tokens that the model predicts from.
  Index context;
  // Of a model of Hugging Face: its options and the tokens that end a text, and its folder.
  std::optional<PretrainedGpt> description = {};
  std::filesystem::path folder = {};

  // The tokens that end a text.
  TokenIds ends() const;
};

}  // namespace weft::gpt
