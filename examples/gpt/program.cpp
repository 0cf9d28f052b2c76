#include "examples/gpt/program.hpp"

#include "examples/common/commands.hpp"
#include "examples/gpt/commands.hpp"

namespace weft::gpt {
namespace {

constexpr examples::Command commands[] = {
    {.name = "train", .about = "train a model on a text", .train = train},
    {.name = "finetune",
     .about = "fine-tune a Hugging Face model on texts or conversations",
     .train = finetune},
    {.name = "sample", .run = sample, .about = "generate text, or chat with a model"},
    {.name = "evaluate", .run = evaluate, .about = "measure how well a model predicts a text"},
    {.name = "attention", .run = attention, .about = "draw the attention weights for a text"},
};

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_command("gpt", commands, argc, argv);
}

}  // namespace weft::gpt
