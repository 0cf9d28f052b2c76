// gpt: a language model in the format of GPT-2, and what it writes.
#include "examples/gpt/program.hpp"

int main(int argc, char** argv) { return weft::gpt::run_program(argc, argv); }
