// Command-line options that several commands share.
#pragma once

#include <string>

#include "examples/common/command_line.hpp"

namespace weft::pronounce {

// The default output directory of `train`, and the default input directory of the other commands.
inline const std::string default_directory = "build/pronounce";
inline const std::string default_model = default_directory + "/best.h5";
// From the Debian package pocketsphinx-en-us.
inline const std::string default_dictionary =
    "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict";

inline void model_option(examples::CommandLine& line, std::string& file) {
  line.option("model", "model checkpoint", file);
}

inline void dictionary_option(examples::CommandLine& line, std::string& file) {
  line.option("dictionary",
              "pronunciation dictionary in CMUdict format: a word and its phones per line", file);
}

inline void beam_option(examples::CommandLine& line, std::int64_t& width) {
  line.option("beam", "beam width; 1: greedy search", width, 1, 1000);
}

}  // namespace weft::pronounce
