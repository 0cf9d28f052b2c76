#include "examples/pronounce/program.hpp"

#include <iostream>
#include <string>

#include "examples/common/command_line.hpp"
#include "examples/common/program.hpp"
#include "examples/pronounce/commands.hpp"

namespace weft::pronounce {
namespace {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* about;
};

constexpr Command commands[] = {
    {"train", train, "train a model on a dictionary"},
    {"evaluate", evaluate, "compute the error rates on held-out words"},
    {"say", say, "pronounce words"},
    {"gradcheck", gradcheck, "check all gradients of a small model"},
    {"attention", attention, "draw the attention weights for a word"},
};

void write_help(std::ostream& out) {
  out << "Usage: pronounce COMMAND [OPTION...]\n\n";
  for (const Command& command : commands)
    out << "  " << command.name << std::string(11 - std::string(command.name).size(), ' ')
        << command.about << '\n';
  out << "\n`pronounce COMMAND --help` lists the options of a command.\n";
}

}  // namespace

int run_program(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const Command& command : commands)
    if (name == command.name)
      return examples::run_program("pronounce " + name,
                                   [&] { return command.run(argc - 1, argv + 1); });
  return examples::run_program("pronounce", [&] {
    if (name.empty()) {
      write_help(std::cerr);
      return 2;
    }
    if (name != "--help") fail<examples::UsageError>("command line", "a command", "'" + name + "'");
    write_help(std::cout);
    return 0;
  });
}

}  // namespace weft::pronounce
