// Command-line options that several commands share.
#pragma once

#include <string>

#include "examples/common/command_line.hpp"

namespace weft::gpt {

inline const std::string default_folder = "build/gpt";

inline void model_option(examples::CommandLine& line, std::string& folder) {
  line.option("model", "folder with model.h5, config.json, vocab.json and merges.txt", folder);
}

}  // namespace weft::gpt
