// The program as a function, for main() and for tests.
#pragma once

namespace weft::pronounce {

// Runs the command argv[1]. Returns the exit status: 0 on success, 1 on errors, 2 for an invalid
// command line, or 128 + the number of the signal that ended training (130 for Ctrl-C). Errors are
// printed to standard error, one line each.
int run_program(int argc, char** argv);

}  // namespace weft::pronounce
