// SavedModel: a model made again from its checkpoint.
#pragma once

#include <filesystem>

#include "examples/pronounce/configuration.hpp"
#include "examples/pronounce/language.hpp"
#include "examples/pronounce/model.hpp"

namespace weft::pronounce {

struct SavedModel {
  // Throws FileError when the file is not a whole checkpoint of such a model.
  explicit SavedModel(const std::filesystem::path& checkpoint);

  Configuration configuration;
  Language language;
  Pronouncer<float> model;
};

// The configuration that a checkpoint keeps. Throws FileError.
Configuration load_configuration(const std::filesystem::path& checkpoint);

}  // namespace weft::pronounce
