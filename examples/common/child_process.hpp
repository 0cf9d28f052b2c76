// run_process: another program, started without a shell and waited for.
#pragma once

#include <string>
#include <vector>

namespace weft::examples {

struct ProcessResult {
  enum class Outcome { succeeded, failed, not_found };
  Outcome outcome = Outcome::failed;
  // What the program wrote to its standard error.
  std::string errors;
};

// Runs `command[0]`, looked up in PATH, with the rest as arguments and nothing to read. What it
// writes to standard output is dropped. Throws Error when no process can be started.
ProcessResult run_process(const std::vector<std::string>& command);

}  // namespace weft::examples
