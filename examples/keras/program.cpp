#include "examples/keras/program.hpp"

#include "examples/common/commands.hpp"
#include "examples/keras/commands.hpp"

namespace weft::keras {
namespace {

constexpr examples::Command commands[] = {
    {"summary", summary, "show the layers, inputs and parameters of a model"},
    {"predict", predict, "compute the outputs of a model"},
    {"finetune", nullptr, "train a model further", 1, finetune},
};

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_command("keras", commands, argc, argv);
}

}  // namespace weft::keras
