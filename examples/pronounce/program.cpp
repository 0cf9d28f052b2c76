#include "examples/pronounce/program.hpp"

#include "examples/common/commands.hpp"
#include "examples/pronounce/commands.hpp"

namespace weft::pronounce {
namespace {

constexpr examples::Command commands[] = {
    {"train", train, "train a model on a dictionary"},
    {"evaluate", evaluate, "compute the error rates on held-out words"},
    {"say", say, "pronounce words"},
    {"gradcheck", gradcheck, "check all gradients of a small model"},
    {"attention", attention, "draw the attention weights for a word"},
};

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_command("pronounce", commands, argc, argv);
}

}  // namespace weft::pronounce
