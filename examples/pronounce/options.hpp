// Options that several commands share.
#pragma once

#include <string>

#include "examples/common/command_line.hpp"

namespace weft::pronounce {

// Where `train` keeps its files when nothing else is said, and where others look for them.
inline const std::string default_folder = "build/pronounce";
inline const std::string default_model = default_folder + "/best.h5";
// Of Debian's package pocketsphinx-en-us.
inline const std::string default_dictionary =
    "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict";

inline void model_option(examples::CommandLine& line, std::string& file) {
  line.option("model", "checkpoint of the model", file);
}

inline void dictionary_option(examples::CommandLine& line, std::string& file) {
  line.option("dictionary", "file with a word and its phones in each line", file);
}

inline void beam_option(examples::CommandLine& line, std::int64_t& width) {
  line.option("beam", "beams of the search; 1 is greedy", width, 1, 1000);
}

}  // namespace weft::pronounce
