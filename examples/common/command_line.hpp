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

// Options are written --name VALUE or --name=VALUE. The initial value of a variable is its option's
// default, which the help shows. Every command has --help and --threads.
class CommandLine {
 public:
  // `command` as in "pronounce say"; `about` is a one-sentence description for the help.
  CommandLine(const std::string& command, const std::string& about);
  ~CommandLine();

  void option(const std::string& name, const std::string& description, std::int64_t& value,
              std::int64_t lowest, std::int64_t highest);
  void option(const std::string& name, const std::string& description, double& value, double lowest,
              double highest);
  // The value must not be empty.
  void option(const std::string& name, const std::string& description, std::string& value);
  // The value must be one of `choices`.
  void choice(const std::string& name, const std::string& description, std::string& value,
              const std::vector<std::string>& choices);
  // The same for the name of a precision.
  void choice(const std::string& name, const std::string& description, Precision& value);
  // A Boolean option without a value; --name=false undoes it.
  void flag(const std::string& name, const std::string& description, bool& value);
  // Positional arguments. `name` is shown in the help: "WORD...".
  void arguments(const std::string& name, std::vector<std::string>& values);

  // Parses argv[1 …] and sets the variables and the number of threads. Returns false when --help is
  // given, after printing the help to standard output. Throws UsageError, naming the option, for an
  // unknown option, a missing value and a value out of range, and for positional arguments when
  // none are declared.
  bool parse(int argc, char** argv);
  // The options that are given, and their values.
  std::vector<std::pair<std::string, std::string>> given() const;
  // Takes options as if they were given, unless they are; those that the command does not have are
  // ignored. Throws as `parse` does.
  void take(const std::vector<std::pair<std::string, std::string>>& options);
  // Throws UsageError if one of these options is given, which has no effect; `reason`, as in
  // "without --lora", says why.
  void without_effect(std::initializer_list<std::string> options, const std::string& reason) const;
  // Sets the variables of the given options again, for use after the defaults were changed.
  void apply() const;

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace weft::examples
