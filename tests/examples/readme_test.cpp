#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(WEFT_TEST_DATA) + "/../../" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("README: contains first_steps.cpp verbatim", "[examples]") {
  const std::string program = text_of("examples/first_steps.cpp");
  REQUIRE_FALSE(program.empty());
  CHECK(weft::contains(text_of("README.md"), "```cpp\n" + program + "```\n"));
}
