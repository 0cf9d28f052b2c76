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

TEST_CASE("program: errors become one line that names the program, and a status", "[examples]") {
  const auto end_of = [](const std::function<int()>& work) {
    const Captured errors(std::cerr);
    const int status = run_program("weave", work);
    return std::pair(status, errors.text());
  };
  CHECK(end_of([] { return 130; }) == std::pair(130, std::string()));
  CHECK(end_of([]() -> int { fail<ValueError>("lr", "a number", "none"); }) ==
        std::pair(1, std::string("weave: lr: expected a number, got none\n")));
  CHECK(end_of([]() -> int { throw UsageError("bad option"); }) ==
        std::pair(2, std::string("weave: bad option (see weave --help)\n")));
  CHECK(end_of([]() -> int { throw std::bad_alloc(); }) ==
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

namespace {

fs::path given;

int run_weave(int argc, char** argv) {
  return run_tour_program(argc, argv, "weave", "Weaves a picture.",
                          [](const fs::path& folder) { given = folder; });
}

}  // namespace

TEST_CASE("program: one of the tour gets the folder for its pictures, made", "[examples]") {
  const TemporaryFolder temporary;
  const std::string out = (temporary / "new/pictures").string();
  const auto run = [](const std::vector<std::string>& arguments) {
    given.clear();
    return outcome_of(run_weave, "weave", arguments);
  };
  CHECK(run({"--out", out}).status == 0);
  CHECK(given == out);
  CHECK(fs::is_directory(out));

  const Outcome help = run({"--help"});
  CHECK(help.status == 0);
  CHECK(contains(help.output, "Weaves a picture."));
  CHECK(contains(help.output, "build/tour"));
  CHECK(run({"--colour"}).status == 2);
  const Outcome impossible = run({"--out", "/dev/null/out"});
  CHECK(impossible.status == 1);
  CHECK(
      contains(impossible.errors, "weave: folder '/dev/null/out': expected one that can be made"));
  CHECK(given.empty());
}
