// SavedModel: a language model and its tokens, loaded from a file or a folder.
#pragma once

#include <filesystem>

#include <weft/layers/models/gpt.hpp>
#include "examples/gpt/tokenizer.hpp"

namespace weft::gpt {

struct SavedModel {
  // Loads a checkpoint of `gpt train`, or best.h5 of a folder, or from a folder with config.json
  // the files config.json, vocab.json, merges.txt and model.h5, with the weights under the names of
  // weft, Hugging Face's GPT-2 or nanoGPT. Throws FileError, naming the file, when one cannot be
  // read or does not fit the others. With Precision::bf16, the weights are rounded to it.
  static SavedModel load(const std::filesystem::path& path, Precision weights = Precision::full);

  Tokenizer tokenizer;
  Gpt<float> model;
  // The most tokens that the model predicts from.
  Index context;
};

}  // namespace weft::gpt
