#include <iostream>
#include <new>

#include "examples/command_line.hpp"
#include "examples/program.hpp"
#include "tests/catch.hpp"
#include "tests/examples/captured.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::examples;
namespace fs = std::filesystem;

TEST_CASE("program: errors become one line that names the program, and a status", "[examples]") {
  const auto outcome_of = [](const std::function<int()>& work) {
    const Captured errors(std::cerr);
    const int status = run_program("weave", work);
    return std::pair(status, errors.text());
  };
  CHECK(outcome_of([] { return 130; }) == std::pair(130, std::string()));
  CHECK(outcome_of([]() -> int { fail<ValueError>("lr", "a number", "none"); }) ==
        std::pair(1, std::string("weave: lr: expected a number, got none\n")));
  CHECK(outcome_of([]() -> int { throw UsageError("bad option"); }) ==
        std::pair(2, std::string("weave: bad option (see weave --help)\n")));
  CHECK(outcome_of([]() -> int { throw std::bad_alloc(); }) ==
        std::pair(1, std::string("weave: out of memory\n")));
}

TEST_CASE("program: what cannot be written to standard output is an error", "[examples]") {
  const Captured errors(std::cerr);
  CHECK(run_program("weave", [] {
          std::cout.setstate(std::ios::badbit);
          return 0;
        }) == 1);
  std::cout.clear();
  CHECK(contains(errors.text(), "weave: standard output: expected to be written to"));
}

TEST_CASE("program: one of the tour gets the folder for its pictures, made", "[examples]") {
  const TemporaryFolder temporary;
  const std::string out = (temporary / "new/pictures").string();
  fs::path given;
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "weave");
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return run_tour_program(static_cast<int>(arguments.size()), argv.data(), "weave",
                            "Weaves a picture.", [&](const fs::path& folder) { given = folder; });
  };
  CHECK(run({"--out", out}) == 0);
  CHECK(given == out);
  CHECK(fs::is_directory(out));

  given.clear();
  const Captured output(std::cout), errors(std::cerr);
  CHECK(run({"--help"}) == 0);
  CHECK(contains(output.text(), "Weaves a picture."));
  CHECK(contains(output.text(), "build/tour"));
  CHECK(run({"--colour"}) == 2);
  CHECK(run({"--out", "/dev/null/out"}) == 1);
  CHECK(contains(errors.text(), "weave: folder '/dev/null/out': expected one that can be made"));
  CHECK(given.empty());
}
