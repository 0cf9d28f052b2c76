// run_program and run_tour_program: what stands around the work of every program.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace weft::examples {

// Runs `work`, which returns an exit status. Returns that status, 1 when something went wrong, or 2
// when the command line cannot be understood (UsageError). Errors are one line each, on standard
// error, opened by `name`.
int run_program(const std::string& name, const std::function<int()>& work);

// The same for a program that draws, with one option: --out, the folder for its pictures,
// build/tour when not given, which `work` gets and which is made where it is missing. `about` is
// one sentence for the help.
int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& folder)>& work);

}  // namespace weft::examples
