// CommandLine: a command-line parser whose options set bound variables.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/autograd/precision.hpp>

namespace weft::examples {

// An invalid command line; programs exit with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Parses options of the form --name VALUE or --name=VALUE. The initial value of a variable is the
// default of its option and is shown in the help. Every command has the options --help and
// --threads.
class CommandLine {
 public:
  // `command` is the name of the command in the help, such as "pronounce say"; `about` describes it
  // in one sentence.
  CommandLine(const std::string& command, const std::string& about);
  ~CommandLine();

  // Adds an option with a number from `lowest` to `highest`.
  void option(const std::string& name, const std::string& description, std::int64_t& value,
              std::int64_t lowest, std::int64_t highest);
  void option(const std::string& name, const std::string& description, double& value, double lowest,
              double highest);
  // Adds an option with a non-empty string.
  void option(const std::string& name, const std::string& description, std::string& value);
  // Adds an option whose value must be one of `choices`.
  void choice(const std::string& name, const std::string& description, std::string& value,
              const std::vector<std::string>& choices);
  // Adds an option whose value must be the name of a precision.
  void choice(const std::string& name, const std::string& description, Precision& value);
  // Adds a Boolean option: --name sets `value` to true, --name=false to false. If `value` is
  // already true, the help says how to disable it.
  void flag(const std::string& name, const std::string& description, bool& value);
  // Accepts positional arguments. The help calls them `name`, for example "WORD...".
  void arguments(const std::string& name, std::vector<std::string>& values);

  // Parses the arguments after argv[0], and sets the variables and the number of threads. If --help
  // is given, prints the help to standard output and returns false. Throws UsageError, naming the
  // option, for an unknown option, a missing value or a value out of range, and for positional
  // arguments if the command has none.
  bool parse(int argc, char** argv);
  // Returns the given options and their values.
  std::vector<std::pair<std::string, std::string>> given() const;
  // Sets options as if they were on the command line. Options that are given keep their values, and
  // options that the command does not have are ignored. Throws the same exceptions as `parse`.
  void take(const std::vector<std::pair<std::string, std::string>>& options);
  // Throws UsageError if one of `options`, which have no effect, is given. `reason` completes the
  // message: "without --lora".
  void without_effect(std::initializer_list<std::string> options, const std::string& reason) const;
  // Sets the variables of the given options again. Call it after changing the defaults.
  void apply() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace weft::examples
