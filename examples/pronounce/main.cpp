// pronounce: learns from a dictionary how English words are pronounced, and says them.
#include "examples/pronounce/program.hpp"

int main(int argc, char** argv) { return weft::pronounce::run_program(argc, argv); }
