// embed: computes sentence embeddings with a BERT-like model, and their similarities.
#include "examples/embed/program.hpp"

int main(int argc, char** argv) { return weft::embed::run_program(argc, argv); }
