// h5weights: shows, checks, compares and converts weight files (HDF5 or safetensors).
#include "examples/h5weights/program.hpp"

int main(int argc, char** argv) { return weft::h5weights::run_program(argc, argv); }
