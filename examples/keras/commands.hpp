// The commands of the program, one file each. argv[0] is the command's name. Each returns the exit
// status.
#pragma once

#include <weft/train/parallel/process_group.hpp>

namespace weft::keras {

int summary(int argc, char** argv);
int predict(int argc, char** argv);
int finetune(ProcessGroup& processes, int argc, char** argv);

}  // namespace weft::keras
