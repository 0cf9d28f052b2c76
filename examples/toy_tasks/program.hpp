// The program as a function, for main() and for tests.
#pragma once

namespace weft::toy_tasks {

// Trains a model for each selected task, or answers a question with a saved model. Returns the exit
// status: 0 on success, 1 on errors, 2 for an invalid command line, 128 + the signal after one that
// interrupted it, such as 130 after Ctrl-C. Errors are printed to standard error, one line each.
int run_program(int argc, char** argv);

}  // namespace weft::toy_tasks
