// pronounce: trains a transformer on a pronunciation dictionary, evaluates it and applies it.
#include "examples/pronounce/program.hpp"

int main(int argc, char** argv) { return weft::pronounce::run_program(argc, argv); }
