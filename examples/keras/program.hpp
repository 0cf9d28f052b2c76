// The program as a function, for main() and for tests.
#pragma once

namespace weft::keras {

// Runs a command on a Keras model. Returns the exit status: 0 on success, 1 on errors, 2 for an
// invalid command line. Errors are printed to standard error, one line each.
int run_program(int argc, char** argv);

}  // namespace weft::keras
