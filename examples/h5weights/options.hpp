// parse_files: parses the command line of a command whose arguments are files.
#pragma once

#include <string>
#include <vector>

#include "examples/common/command_line.hpp"

namespace weft::h5weights {

// Parses the command line and stores the arguments in `files`. `names` are their names in the help,
// such as "FILE". Returns false if --help is given. Throws UsageError for an invalid command line,
// including a wrong number of files.
bool parse_files(examples::CommandLine& line, int argc, char** argv,
                 const std::vector<std::string>& names, std::vector<std::string>& files);

}  // namespace weft::h5weights
