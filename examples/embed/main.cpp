// embed: vectors of sentences, by a model in the form of BERT, and how similar they are.
#include "examples/embed/program.hpp"

int main(int argc, char** argv) { return weft::embed::run_program(argc, argv); }
