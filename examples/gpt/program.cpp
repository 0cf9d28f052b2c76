#include "examples/gpt/program.hpp"

#include "examples/common/commands.hpp"
#include "examples/gpt/commands.hpp"

namespace weft::gpt {
namespace {

constexpr examples::Command commands[] = {
    {"train", train, "train a model on a text"},
    {"sample", sample, "continue a text"},
    {"evaluate", evaluate, "compute how well a model predicts a text"},
    {"attention", attention, "draw the attention weights for a text"},
};

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_command("gpt", commands, argc, argv);
}

}  // namespace weft::gpt
