#include "examples/common/held_out.hpp"

#include <array>
#include <cmath>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using examples::Split;
using examples::split_named;
using examples::split_of;

TEST_CASE("held out: the parts are 90, 5 and 5 percent", "[examples]") {
  std::array<double, 3> count{};
  for (int i = 0; i < 20000; ++i)
    ++count.at(static_cast<std::size_t>(split_of(concatenate_text("w", i))));
  CHECK(std::abs(count[0] / 20000.0 - 0.90) < 0.01);
  CHECK(std::abs(count[1] / 20000.0 - 0.05) < 0.01);
  CHECK(std::abs(count[2] / 20000.0 - 0.05) < 0.01);
  // FNV-1a of "" is 14695981039346656037, of "a" 12638187200555641996.
  CHECK(split_of("") == Split::train);
  CHECK(split_of("a") == Split::test);
}

TEST_CASE("held out: parts have names", "[examples]") {
  for (const Split part : {Split::train, Split::validation, Split::test})
    CHECK(split_named(to_string(part)) == part);
  CHECK(message_of<ValueError>([] { split_named("both"); }) ==
        "part: expected train, validation or test, got 'both'");
}
