// The program as a function, for main and for the tests.
#pragma once

namespace weft::pronounce {

// Runs the command that argv names. Returns the exit status: 0, 1 when something went wrong, 2 when
// the command line cannot be understood, 130 after Ctrl-C. Errors are one line each, on standard
// error.
int run_program(int argc, char** argv);

}  // namespace weft::pronounce
