// The commands of the program, one file each. argv[0] is the command's name. Each returns the exit
// status.
#pragma once

#include <weft/train/parallel/process_group.hpp>

namespace weft::gpt {

int train(ProcessGroup& processes, int argc, char** argv);
int finetune(ProcessGroup& processes, int argc, char** argv);
int sample(int argc, char** argv);
int evaluate(int argc, char** argv);
int attention(int argc, char** argv);

}  // namespace weft::gpt
