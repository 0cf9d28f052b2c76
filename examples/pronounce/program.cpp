#include "examples/pronounce/program.hpp"

#include "examples/common/commands.hpp"
#include "examples/pronounce/commands.hpp"

namespace weft::pronounce {
namespace {

constexpr examples::Command commands[] = {
    {.name = "train", .about = "train a model on a dictionary", .train = train},
    {.name = "evaluate", .run = evaluate, .about = "compute the error rates on held-out words"},
    {.name = "say", .run = say, .about = "pronounce words"},
    {.name = "gradcheck", .run = gradcheck, .about = "check all gradients of a small model"},
    {.name = "attention", .run = attention, .about = "draw the attention weights for a word"},
};

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_command("pronounce", commands, argc, argv);
}

}  // namespace weft::pronounce
