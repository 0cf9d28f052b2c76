// SavedModel: a model loaded from a checkpoint.
#pragma once

#include <filesystem>

#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/language.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {

struct SavedModel {
  // Loads a checkpoint. Throws FileError if the file is not a complete checkpoint of a Pronouncer.
  explicit SavedModel(const std::filesystem::path& checkpoint);

  Configuration configuration;
  Language language;
  Pronouncer<float> model;
};

}  // namespace weft::pronounce
