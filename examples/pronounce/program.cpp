#include "examples/pronounce/program.hpp"

#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "examples/command_line.hpp"
#include "examples/pronounce/commands.hpp"

namespace weft::pronounce {
namespace {

struct Command {
  const char* name;
  int (*run)(int argc, char** argv);
  const char* about;
};

constexpr Command commands[] = {
    {"train", train, "learn from a dictionary"},
    {"evaluate", evaluate, "count the errors on words that were held out"},
    {"say", say, "pronounce words"},
    {"gradcheck", gradcheck, "check every gradient of a small model"},
    {"attention", attention, "draw which letters each phone attends to"},
};

void write_help(std::ostream& out) {
  out << "Usage: pronounce COMMAND [OPTION...]\n\n";
  for (const Command& command : commands)
    out << "  " << command.name << std::string(11 - std::string(command.name).size(), ' ')
        << command.about << '\n';
  out << "\n`pronounce COMMAND --help` tells the options of a command.\n";
}

int run(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "--help") {
    write_help(std::cout);
    return 0;
  }
  for (const Command& command : commands)
    if (name == command.name) return command.run(argc - 1, argv + 1);
  if (name.empty())
    write_help(std::cerr);
  else
    std::cerr << "pronounce: expected a command, got '" << name << "' (see pronounce --help)\n";
  return 2;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    const int status = run(argc, argv);
    if (std::cout.flush()) return status;
    std::cerr << "pronounce: standard output: expected to be written to, got an error\n";
  } catch (const examples::UsageError& error) {
    std::cerr << "pronounce " << argv[1] << ": " << error.what() << " (see pronounce " << argv[1]
              << " --help)\n";
    return 2;
  } catch (const std::bad_alloc&) {
    std::cerr << "pronounce: out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "pronounce: " << error.what() << '\n';
  }
  return 1;
}

}  // namespace weft::pronounce
