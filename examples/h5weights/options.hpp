// parse_files: the command lines of the commands, whose arguments are files.
#pragma once

#include <string>
#include <vector>

#include "examples/common/command_line.hpp"

namespace weft::h5weights {

// Parses the command line and returns true when `files` then has as many arguments as there are
// `names`: "FILE", "A", "B". Returns false after --help. Throws UsageError.
bool parse_files(examples::CommandLine& line, int argc, char** argv,
                 const std::vector<std::string>& names, std::vector<std::string>& files);

}  // namespace weft::h5weights
