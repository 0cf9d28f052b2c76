#include "examples/common/command_line.hpp"

#include <iostream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using weft::examples::CommandLine;
using weft::examples::UsageError;

namespace {

// A command with an option of each kind, and what it made of a line.
struct Command {
  std::int64_t width = 64;
  double lr = 0.5;
  std::string out = "here";
  std::string part = "test";
  bool full = false;
  std::vector<std::string> words;
  CommandLine line{"program command", "Does something."};

  explicit Command(bool takes_words = true) {
    line.option("width", "the width", width, 1, 100);
    line.option("lr", "the rate", lr, 0.0, 1.0);
    line.option("out", "the folder", out);
    line.choice("part", "the part", part, {"test", "validation"});
    line.flag("full", "longer", full);
    if (takes_words) line.arguments("WORD...", words);
  }

  bool parse(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return line.parse(static_cast<int>(arguments.size()), argv.data());
  }
};

}  // namespace

TEST_CASE("command line: options set their variables, others keep their values", "[examples]") {
  Command command;
  REQUIRE(command.parse(
      {"command", "--width", "7", "one", "--out=there", "--full", "two", "--part", "validation"}));
  CHECK(command.width == 7);
  CHECK(command.lr == 0.5);
  CHECK(command.out == "there");
  CHECK(command.part == "validation");
  CHECK(command.full);
  CHECK(command.words == std::vector<std::string>{"one", "two"});

  command.width = 3;
  command.lr = 0.25;
  command.line.apply();
  CHECK(command.width == 7);
  CHECK(command.lr == 0.25);
}

TEST_CASE("command line: what cannot be understood is a usage error that names it", "[examples]") {
  const auto complaint = [](std::vector<std::string> arguments, bool takes_words = true) {
    Command command(takes_words);
    arguments.insert(arguments.begin(), "command");
    return message_of<UsageError>([&] { command.parse(arguments); });
  };
  CHECK(contains(complaint({"--depth", "3"}), "depth"));
  CHECK(contains(complaint({"--width"}), "width"));
  CHECK(complaint({"--width", "101"}) == "option --width: expected a number in 1 … 100, got '101'");
  CHECK(complaint({"--lr", "-1"}) == "option --lr: expected a number in 0 … 1, got '-1'");
  for (const char* text : {"wide", "7b", "", "1.5", "99999999999999999999"})
    CHECK(contains(complaint({"--width", text}), concatenate_text("got '", text, "'")));
  for (const char* text : {"nan", "inf", "1e999", "0.1.2"})
    CHECK(contains(complaint({"--lr", text}), concatenate_text("got '", text, "'")));
  CHECK(complaint({"--part", "all"}) ==
        "option --part: expected one of test, validation, got 'all'");
  CHECK(contains(complaint({"--threads", "0"}), "option --threads: expected a number in 1"));
  CHECK(complaint({"word"}, false) == "command line: expected options only, got 'word'");
}

TEST_CASE("command line: --help tells the options with their values and does nothing",
          "[examples]") {
  std::ostringstream written;
  std::streambuf* const before = std::cout.rdbuf(written.rdbuf());
  Command command;
  const bool go_on = command.parse({"command", "--help", "--width", "7"});
  std::cout.rdbuf(before);
  CHECK_FALSE(go_on);
  CHECK(command.width == 64);
  for (const char* part : {"program command", "Does something.", "WORD...", "--width", "64"})
    CHECK(contains(written.str(), part));
}
