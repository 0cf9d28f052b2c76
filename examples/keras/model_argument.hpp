// parse_model: parses the command line of a command whose first argument is a model.
#pragma once

#include <string>
#include <vector>

#include "examples/common/command_line.hpp"

namespace weft::keras {

// Parses the command line and stores its first argument, the path of a model, in `model` and the
// other arguments in `others`; `names` are their names in the help. Returns false if --help is
// given. Throws UsageError for an invalid command line, including a missing argument and more
// arguments than names, unless the last name ends with "...".
bool parse_model(examples::CommandLine& line, int argc, char** argv, std::string& model,
                 const std::string& names = "", std::vector<std::string>* others = nullptr);

}  // namespace weft::keras
