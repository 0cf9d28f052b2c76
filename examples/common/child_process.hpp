// run_process: runs another program, without a shell, and waits for it.
#pragma once

#include <string>
#include <vector>

namespace weft::examples {

// The result of run_process.
struct ProcessResult {
  enum class Outcome { succeeded, failed, not_found };
  Outcome outcome = Outcome::failed;
  // The text that the program wrote to standard error.
  std::string errors;
};

// Runs `command[0]`, found in PATH, with the remaining elements as arguments. Standard input is
// empty and standard output is discarded. Throws Error if no process can be started.
ProcessResult run_process(const std::vector<std::string>& command);

}  // namespace weft::examples
