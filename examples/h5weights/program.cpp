#include "examples/h5weights/program.hpp"

#include "examples/common/commands.hpp"
#include "examples/h5weights/commands.hpp"

namespace weft::h5weights {
namespace {

constexpr examples::Command commands[] = {
    {"inspect", inspect, "show the datasets of a file and their statistics"},
    {"verify", verify, "check that a file is complete and all its numbers are finite"},
    {"convert", convert, "convert weights to the layout of another program"},
    {"diff", diff, "compare the numbers of two files", 2},
};

}  // namespace

int run_program(int argc, char** argv) {
  return examples::run_command("h5weights", commands, argc, argv);
}

}  // namespace weft::h5weights
