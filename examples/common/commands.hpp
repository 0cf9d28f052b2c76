// run_command: what programs with several commands share.
#pragma once

#include <span>
#include <string>

#include <weft/train/parallel/process_group.hpp>

namespace weft::examples {

struct Command {
  const char* name;
  // argv[0] is the command's name. Returns the exit status.
  int (*run)(int argc, char** argv) = nullptr;
  const char* about = "";  // for the help
  int error_status = 1;
  // Instead of `run`, for a command that trains: see run_training.
  int (*train)(ProcessGroup& processes, int argc, char** argv) = nullptr;
};

// Runs the command argv[1] of a program. Returns its exit status as `run_program` does, and the
// command's error_status for errors other than of the command line; without a command, prints the
// help to standard error and returns 2.
int run_command(const std::string& program, std::span<const Command> commands, int argc,
                char** argv);

}  // namespace weft::examples
