// The program as a function, for main() and for tests.
#pragma once

namespace weft::toy_tasks {

// Trains a model for each selected task, or answers a question with a saved model. Returns the exit
// status: 0 on success, 1 on errors, 2 for an invalid command line, or 128 + the number of the
// signal that ended training (130 for Ctrl-C). Errors are printed to standard error, one line each.
int run_program(int argc, char** argv);

}  // namespace weft::toy_tasks
