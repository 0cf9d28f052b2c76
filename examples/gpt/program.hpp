// The program as a function, for main() and for tests.
#pragma once

namespace weft::gpt {

// Runs the command argv[1]. Returns the exit status: 0 on success, 1 on errors, 2 for an invalid
// command line. Errors are printed to standard error.
int run_program(int argc, char** argv);

}  // namespace weft::gpt
