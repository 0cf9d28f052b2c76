// gpt: trains, fine-tunes and evaluates language models, and generates text.
#include "examples/gpt/program.hpp"

int main(int argc, char** argv) { return weft::gpt::run_program(argc, argv); }
