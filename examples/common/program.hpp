// run_program, make_folder and run_tour_program: what stands around the work of every program.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace weft::examples {

// Runs `work`, which returns an exit status. Returns that status, 1 when something went wrong, or 2
// when the command line cannot be understood (UsageError). Errors are one line each, on standard
// error, opened by `name`.
int run_program(const std::string& name, const std::function<int()>& work);

// Makes a folder where it is missing, and those that it is in. Throws FileError.
void make_folder(const std::filesystem::path& folder);

// run_program for a program that draws and has one option: --out, the folder for its pictures,
// build/tour when not given, which is made and which `work` gets. `about` is one sentence for the
// help.
int run_tour_program(int argc, char** argv, const std::string& name, const std::string& about,
                     const std::function<void(const std::filesystem::path& folder)>& work);

}  // namespace weft::examples
