// toy_tasks: learns to copy, reverse, sort, add and read dates, each by a small transformer.
#include "examples/toy_tasks/program.hpp"

int main(int argc, char** argv) { return weft::toy_tasks::run_program(argc, argv); }
