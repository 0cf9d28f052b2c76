#include "examples/common/command_line.hpp"

#include <iostream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using weft::examples::CommandLine;
using weft::examples::UsageError;

namespace {

// A command with an option of each kind, and the variables that they set.
struct Command {
  std::int64_t width = 64;
  double lr = 0.5;
  std::string out = "here";
  std::string split = "test";
  bool full = false;
  Precision precision = Precision::full;
  std::vector<std::string> words;
  CommandLine line{"program command", "Does something."};

  explicit Command(bool has_arguments = true) {
    line.option("width", "the width", width, 1, 100);
    line.option("lr", "the learning rate", lr, 0.0, 1.0);
    line.option("out", "the directory", out);
    line.choice("split", "the split", split, {"test", "validation"});
    line.flag("full", "train longer", full);
    line.choice("precision", "the precision", precision);
    if (has_arguments) line.arguments("WORD...", words);
  }

  bool parse(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return line.parse(static_cast<int>(arguments.size()), argv.data());
  }
};

}  // namespace

TEST_CASE("command line: given options set their variables, others keep their defaults",
          "[examples]") {
  Command command;
  REQUIRE(command.parse({"command", "--width", "7", "one", "--out=there", "--full", "two",
                         "--split", "validation", "--precision", "bf16"}));
  CHECK(command.width == 7);
  CHECK(command.lr == 0.5);
  CHECK(command.out == "there");
  CHECK(command.split == "validation");
  CHECK(command.full);
  CHECK(command.precision == Precision::bf16);
  CHECK(command.words == std::vector<std::string>{"one", "two"});

  Command sentences;
  REQUIRE(sentences.parse({"command", "one, two", "", "three,"}));
  CHECK(sentences.words == std::vector<std::string>{"one, two", "", "three,"});

  command.width = 3;
  command.lr = 0.25;
  command.line.apply();
  CHECK(command.width == 7);
  CHECK(command.lr == 0.25);
}

TEST_CASE("command line: the help says how to disable a flag that is set", "[examples]") {
  bool rotary = true, modern = false;
  examples::CommandLine line("test", "A test.");
  line.flag("rotary", "use rotary positions", rotary);
  line.flag("modern", "use all of it", modern);
  std::string program = "test", help = "--help";
  char* argv[] = {program.data(), help.data(), nullptr};
  std::ostringstream printed;
  std::streambuf* const before = std::cout.rdbuf(printed.rdbuf());
  const bool parsed = line.parse(2, argv);
  std::cout.rdbuf(before);
  CHECK_FALSE(parsed);
  CHECK(contains(printed.str(), "--rotary=false"));
  CHECK(contains(printed.str(), "(default: true)"));
  CHECK_FALSE(contains(printed.str(), "--modern=false"));
}

TEST_CASE("command line: a flag is set, and undone with =false", "[examples]") {
  for (const auto& [argument, expected] :
       {std::pair{"--modern", true}, {"--modern=true", true}, {"--modern=false", false}}) {
    bool modern = !expected;
    examples::CommandLine line("test", "A test.");
    line.flag("modern", "the form of the model", modern);
    std::string program = "test", flag = argument;
    char* argv[] = {program.data(), flag.data(), nullptr};
    CHECK(line.parse(2, argv));
    CHECK(modern == expected);
  }
}

TEST_CASE("command line: invalid options and arguments throw UsageError and are named",
          "[examples]") {
  const auto usage_error = [](std::vector<std::string> arguments, bool has_arguments = true) {
    Command command(has_arguments);
    arguments.insert(arguments.begin(), "command");
    return message_of<UsageError>([&] { command.parse(arguments); });
  };
  CHECK(contains(usage_error({"--depth", "3"}), "depth"));
  CHECK(contains(usage_error({"--width"}), "width"));
  CHECK(usage_error({"--width", "101"}) ==
        "option --width: expected a number from 1 to 100, got '101'");
  CHECK(usage_error({"--lr", "-1"}) == "option --lr: expected a number from 0 to 1, got '-1'");
  for (const char* text : {"wide", "7b", "", "1.5", "99999999999999999999"})
    CHECK(contains(usage_error({"--width", text}), str_cat("got '", text, "'")));
  for (const char* text : {"nan", "inf", "1e999", "0.1.2"})
    CHECK(contains(usage_error({"--lr", text}), str_cat("got '", text, "'")));
  for (const std::vector<std::string>& empty :
       {std::vector<std::string>{"--out", ""}, std::vector<std::string>{"--out="}})
    CHECK(usage_error(empty) == "option --out: expected a non-empty value, got ''");
  CHECK(usage_error({"--split", "all"}) ==
        "option --split: expected one of test, validation, got 'all'");
  CHECK(usage_error({"--precision", "fp16"}) ==
        "option --precision: expected one of full, bf16, got 'fp16'");
  CHECK(
      contains(usage_error({"--threads", "0"}), "option --threads: expected a number from 1 to "));
  CHECK(usage_error({"word"}, false) == "command line: expected options only, got 'word'");
}

TEST_CASE("command line: --help prints the options with their defaults and sets nothing",
          "[examples]") {
  std::ostringstream printed;
  std::streambuf* const previous = std::cout.rdbuf(printed.rdbuf());
  Command command;
  const bool proceed = command.parse({"command", "--help", "--width", "7"});
  std::cout.rdbuf(previous);
  CHECK_FALSE(proceed);
  CHECK(command.width == 64);
  for (const char* text : {"program command", "Does something.", "WORD...", "--width", "64"})
    CHECK(contains(printed.str(), text));
}
