// run_process: runs another program, without a shell, and waits for it.
#pragma once

#include <string>
#include <vector>

namespace weft::examples {

struct ProcessResult {
  enum class Outcome { succeeded, failed, not_found };
  Outcome outcome = Outcome::failed;
  // The program's standard error.
  std::string errors;
};

// Runs `command[0]`, found in PATH, with the remaining elements as arguments. Standard input is
// empty and standard output is discarded. Throws Error when no process can be started.
ProcessResult run_process(const std::vector<std::string>& command);

}  // namespace weft::examples
