// The program as a function, for main and for the tests.
#pragma once

namespace weft::toy_tasks {

// Learns the tasks that argv names, or answers a question with a model that it saved. Returns the
// exit status: 0, 1 when something went wrong, 2 when the command line cannot be understood. Errors
// are one line each, on standard error.
int run_program(int argc, char** argv);

}  // namespace weft::toy_tasks
