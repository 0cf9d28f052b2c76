// The commands of the program, one file each. argv[0] is the command's name. Each returns the exit
// status.
#pragma once

namespace weft::h5weights {

int inspect(int argc, char** argv);
int verify(int argc, char** argv);
int convert(int argc, char** argv);
int diff(int argc, char** argv);

}  // namespace weft::h5weights
