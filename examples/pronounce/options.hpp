// Command-line options that several commands share.
#pragma once

#include <string>

#include "examples/common/command_line.hpp"

namespace weft::pronounce {

// The default output directory of `train`, and input directory of the other commands.
inline const std::string default_directory = "build/pronounce";
inline const std::string default_model = default_directory + "/best.h5";
// From the Debian package pocketsphinx-en-us.
inline const std::string default_dictionary =
    "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict";

inline void model_option(examples::CommandLine& line, std::string& file) {
  line.option("model", "checkpoint of the model", file);
}

inline void dictionary_option(examples::CommandLine& line, std::string& file) {
  line.option("dictionary", "pronunciation dictionary: one word and its phones per line", file);
}

inline void beam_option(examples::CommandLine& line, std::int64_t& width) {
  line.option("beam", "beam width of the search; 1 is greedy", width, 1, 1000);
}

}  // namespace weft::pronounce
