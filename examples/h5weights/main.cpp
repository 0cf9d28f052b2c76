// h5weights: shows, checks, compares and converts HDF5 files of weights.
#include "examples/h5weights/program.hpp"

int main(int argc, char** argv) { return weft::h5weights::run_program(argc, argv); }
