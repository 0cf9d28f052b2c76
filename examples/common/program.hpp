// run_program, run_training and run_tour_program: the main functions of programs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <weft/train/parallel/process_group.hpp>

namespace weft::examples {

// Runs `work` and returns its exit status. Returns 2 if `work` throws UsageError or if mpirun has
// started several processes, and `error_status` if it throws another exception or if its output
// cannot be written. Prints an error to standard error as one line that starts with `name`.
int run_program(const std::string& name, const std::function<int()>& work, int error_status = 1);

// Like run_program, for programs and commands that train: works with the processes that mpirun
// started. Only the root process writes to standard output. An error in a process ends all
// processes.
int run_training(const std::string& name, const std::function<int(ProcessGroup&)>& work,
                 int error_status = 1);

// Like run_program, for a program whose only option is --out, the output directory (by default,
// build/tour). Creates the directory and passes it to `work`. `about` is a one-sentence description
// for the help.
int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& directory)>& work);

}  // namespace weft::examples
