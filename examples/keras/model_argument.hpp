// ModelArgument: the model that a command's command line names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <weft/train/pretrained/keras/keras_files.hpp>
#include "examples/common/command_line.hpp"

namespace weft::keras {

struct ModelArgument {
  std::string model, weights;  // `weights` is empty if `model` contains them

  // Adds --weights, parses the command line, and stores its first argument in `model` and the other
  // arguments in `others`; `names` are their names in the help. Returns false if --help is given.
  // Throws UsageError for an invalid command line, including a missing argument and more arguments
  // than names, unless the last name ends with "...".
  bool parse(examples::CommandLine& line, int argc, char** argv, const std::string& names = "",
             std::vector<std::string>* others = nullptr);
  KerasModel<float> load() const;
  // Returns the files that the model is read from.
  std::vector<std::filesystem::path> files() const;
};

}  // namespace weft::keras
