#include <iostream>
#include <new>

#include "examples/common/command_line.hpp"
#include "examples/common/program.hpp"
#include "tests/catch.hpp"
#include "tests/examples/outcome.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::examples;
namespace fs = std::filesystem;

TEST_CASE("program: errors are printed as one line with the program's name and set the status",
          "[examples]") {
  const auto end_of = [](const std::function<int()>& work) {
    const Captured errors(std::cerr);
    const int status = run_program("program", work);
    return std::pair(status, errors.text());
  };
  CHECK(end_of([] { return 130; }) == std::pair(130, std::string()));
  CHECK(end_of([]() -> int { fail<ValueError>("lr", "a number", "none"); }) ==
        std::pair(1, std::string("program: lr: expected a number, got none\n")));
  CHECK(end_of([]() -> int { throw UsageError("bad option"); }) ==
        std::pair(2, std::string("program: bad option (see program --help)\n")));
  CHECK(end_of([]() -> int { throw std::bad_alloc(); }) ==
        std::pair(1, std::string("program: out of memory\n")));
}

TEST_CASE("program: a failed write to standard output is an error", "[examples]") {
  const Captured errors(std::cerr);
  CHECK(run_program("program", [] {
          std::cout.setstate(std::ios::badbit);
          return 0;
        }) == 1);
  std::cout.clear();
  CHECK(contains(errors.text(), "program: cannot write to standard output"));
}

namespace {

fs::path received_directory;

int run_test_program(int argc, char** argv) {
  return run_tour_program(argc, argv, "program", "Draws a plot.",
                          [](const fs::path& directory) { received_directory = directory; });
}

}  // namespace

TEST_CASE("program: a tour program receives its output directory, which is created", "[examples]") {
  const TemporaryFolder temporary;
  const std::string out = (temporary / "new/plots").string();
  const auto run = [](const std::vector<std::string>& arguments) {
    received_directory.clear();
    return outcome_of(run_test_program, "program", arguments);
  };
  CHECK(run({"--out", out}).status == 0);
  CHECK(received_directory == out);
  CHECK(fs::is_directory(out));

  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.output, "Draws a plot."));
  CHECK(contains(help.output, "build/tour"));
  CHECK(run({"--colour"}).status == 2);
  const Outcome impossible = run({"--out", "/dev/null/out"});
  CHECK(impossible.status == 1);
  CHECK(contains(impossible.errors, "program: cannot create directory '/dev/null/out': "));
  CHECK(received_directory.empty());
}
