// keras: opens models of Keras, predicts with them and trains them further.
#include "examples/keras/program.hpp"

int main(int argc, char** argv) { return weft::keras::run_program(argc, argv); }
