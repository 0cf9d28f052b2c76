#include "examples/common/commands.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>

#include "examples/common/command_line.hpp"
#include "examples/common/program.hpp"

namespace weft::examples {
namespace {

void write_help(std::ostream& out, const std::string& program, std::span<const Command> commands) {
  std::size_t width = 0;
  for (const Command& command : commands)
    width = std::max(width, std::string(command.name).size() + 2);
  out << "Usage: " << program << " COMMAND [OPTION...]\n\n" << std::left;
  for (const Command& command : commands)
    out << "  " << std::setw(static_cast<int>(width)) << command.name << command.about << '\n';
  out << "\nRun `" << program << " COMMAND --help` for the options of a command.\n";
}

}  // namespace

int run_command(const std::string& program, std::span<const Command> commands, int argc,
                char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const Command& command : commands)
    if (name == command.name && command.train)
      return run_training(
          program + ' ' + name,
          [&](ProcessGroup& processes) { return command.train(processes, argc - 1, argv + 1); },
          command.error_status);
    else if (name == command.name)
      return run_program(
          program + ' ' + name, [&] { return command.run(argc - 1, argv + 1); },
          command.error_status);
  return run_program(program, [&] {
    if (name.empty()) {
      write_help(std::cerr, program, commands);
      return 2;
    }
    if (name != "--help") fail<UsageError>("command line", "a command", "'" + name + "'");
    write_help(std::cout, program, commands);
    return 0;
  });
}

}  // namespace weft::examples
