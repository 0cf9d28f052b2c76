// run_program, run_tour_program and make_directory: what the main functions of programs share.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace weft::examples {

// Runs `work`, which returns an exit status. Returns that status, 1 if it throws, or 2 if it throws
// UsageError. An error is printed to standard error as one line that starts with `name`.
int run_program(const std::string& name, const std::function<int()>& work);

// Creates a directory and its parents unless they exist. Throws FileError.
void make_directory(const std::filesystem::path& directory);

// run_program for a program with one option: --out, the output directory (default build/tour),
// which is created and passed to `work`. `about` is a one-sentence description for the help.
int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& directory)>& work);

}  // namespace weft::examples
