// The program as a function, for main() and for tests.
#pragma once

namespace weft::pronounce {

// Runs the command argv[1]. Returns the exit status: 0 on success, 1 on errors, 2 for an invalid
// command line, 130 after Ctrl-C, 128 + the signal after others that end a training. Errors are
// printed to standard error, one line each.
int run_program(int argc, char** argv);

}  // namespace weft::pronounce
