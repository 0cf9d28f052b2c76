// toy_tasks: trains small transformers to copy, reverse and sort characters, to add numbers and to
// convert dates.
#include "examples/toy_tasks/program.hpp"

int main(int argc, char** argv) { return weft::toy_tasks::run_program(argc, argv); }
