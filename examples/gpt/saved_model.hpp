// SavedModel: a language model and its vocabulary, loaded from a folder.
#pragma once

#include <filesystem>

#include <weft/layers/models/gpt.hpp>
#include <weft/train/tokenizers/byte_pair_encoding.hpp>

namespace weft::gpt {

struct SavedModel {
  // Reads config.json, vocab.json, merges.txt and model.h5, with the weights under the names of
  // weft, Hugging Face's GPT-2 or nanoGPT. Throws FileError, naming the file, when one cannot be
  // read or does not fit the others.
  explicit SavedModel(const std::filesystem::path& folder);

  BytePairEncoding encoding;
  Gpt<float> model;
};

}  // namespace weft::gpt
