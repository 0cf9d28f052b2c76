#include "examples/common/held_out.hpp"

#include <array>
#include <cmath>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using examples::parse_split;
using examples::Split;
using examples::split_of;

TEST_CASE("split: training, validation and test have 90, 5 and 5 percent of the keys",
          "[examples]") {
  std::array<double, 3> count{};
  for (int i = 0; i < 20000; ++i) ++count.at(static_cast<std::size_t>(split_of(str_cat("w", i))));
  CHECK(std::abs(count[0] / 20000.0 - 0.90) < 0.01);
  CHECK(std::abs(count[1] / 20000.0 - 0.05) < 0.01);
  CHECK(std::abs(count[2] / 20000.0 - 0.05) < 0.01);
  // FNV-1a of "" is 14695981039346656037, of "a" 12638187200555641996.
  CHECK(split_of("") == Split::train);
  CHECK(split_of("a") == Split::test);
}

TEST_CASE("split: parse_split is the inverse of to_string", "[examples]") {
  for (const Split split : {Split::train, Split::validation, Split::test})
    CHECK(parse_split(to_string(split)) == split);
  CHECK(message_of<ValueError>([] { parse_split("both"); }) ==
        "split: expected one of train, validation, test, got 'both'");
}
