// The program as a function, for main() and for tests.
#pragma once

namespace weft::h5weights {

// Runs the command argv[1]. Returns the exit status: 0 on success, 1 on errors, 2 for an invalid
// command line. Like diff(1), `diff` returns 0 for equal files, 1 for different files, 2 on errors.
// Errors are printed to standard error, one line each.
int run_program(int argc, char** argv);

}  // namespace weft::h5weights
