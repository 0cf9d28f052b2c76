// run_command: the main function of programs with several commands.
#pragma once

#include <span>
#include <string>

#include <weft/train/parallel/process_group.hpp>

namespace weft::examples {

// A command of a program. Set `run`, or `train` if the command trains a model.
struct Command {
  const char* name;
  // Runs the command and returns the exit status. argv[0] is the command's name.
  int (*run)(int argc, char** argv) = nullptr;
  const char* about = "";  // description for the help
  int error_status = 1;    // exit status on errors
  // Like `run`, for a command that trains (see run_training).
  int (*train)(ProcessGroup& processes, int argc, char** argv) = nullptr;
};

// Runs the command argv[1] of a program and returns its exit status: the command's error_status on
// errors, 2 for an invalid command line. Without a command, prints the help to standard error and
// returns 2.
int run_command(const std::string& program, std::span<const Command> commands, int argc,
                char** argv);

}  // namespace weft::examples
