// CommandLine: the options of a program's command, bound to the variables that they set.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <weft/autograd/error.hpp>

namespace weft::examples {

// A command line that cannot be understood; programs exit with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Options are written --name VALUE or --name=VALUE. Variables keep the value that they have, which
// the help shows, unless their option is given. Every command has --help and --threads.
class CommandLine {
 public:
  // "pronounce say", and one sentence about it.
  CommandLine(const std::string& command, const std::string& about);
  ~CommandLine();

  void option(const std::string& name, const std::string& description, std::int64_t& value,
              std::int64_t lowest, std::int64_t highest);
  void option(const std::string& name, const std::string& description, double& value, double lowest,
              double highest);
  void option(const std::string& name, const std::string& description, std::string& value);
  // One of some words.
  void choice(const std::string& name, const std::string& description, std::string& value,
              const std::vector<std::string>& choices);
  // An option without a value.
  void flag(const std::string& name, const std::string& description, bool& value);
  // What stands on the line beside options. `name` is for the help: "WORD…".
  void arguments(const std::string& name, std::vector<std::string>& values);

  // Reads the line, argv[0] being the command, and sets the variables and the number of threads.
  // False when help was asked for and written to standard output. Throws UsageError, naming the
  // option, for an unknown one, a missing value and a value out of range, and for arguments where
  // none were declared.
  bool parse(int argc, char** argv);
  // Sets the variables of the options given once more: for when others' values were changed since.
  void apply() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace weft::examples
