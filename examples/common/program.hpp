// run_program and run_tour_program: what the main functions of programs share.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <weft/train/parallel/process_group.hpp>

namespace weft::examples {

// Runs `work`, which returns an exit status. Returns that status, `error_status` if it throws or
// its output could not be written, or 2 if it throws UsageError. An error is printed to standard
// error as one line that starts with `name`. It is an error if mpirun has started several
// processes.
int run_program(const std::string& name, const std::function<int()>& work, int error_status = 1);

// Runs a program or a command that trains, like run_program, with the processes that mpirun
// started. Only the first process writes to standard output, and an error of one ends all.
int run_training(const std::string& name, const std::function<int(ProcessGroup&)>& work,
                 int error_status = 1);

// run_program for a program with one option: --out, the output directory (default build/tour),
// which is created and passed to `work`. `about` is a one-sentence description for the help.
int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& directory)>& work);

}  // namespace weft::examples
