// The main function of the tests of several processes, of which the first one prints, and one that
// fails.
#define CATCH_CONFIG_RUNNER
#include <iostream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/train/parallel/processes/several_processes.hpp"

namespace weft {
namespace {

ProcessGroup* group = nullptr;

}  // namespace

ProcessGroup& test_processes() { return *group; }

}  // namespace weft

int main(int argc, char** argv) {
  weft::ProcessGroup processes;
  weft::group = &processes;
  std::ostringstream output;
  std::streambuf* const terminal = std::cout.rdbuf();
  if (!processes.is_root()) std::cout.rdbuf(output.rdbuf());
  const int failures = Catch::Session().run(argc, argv);
  std::cout.rdbuf(terminal);
  if (failures != 0) std::cout << std::move(output).str() << std::flush;
  if (processes.is_root()) std::cout << processes.size() << " processes" << std::endl;
  // A process that failed may have left the others in the middle of something.
  return failures == 0 ? 0 : processes.abort("tests failed in this process", 1);
}
