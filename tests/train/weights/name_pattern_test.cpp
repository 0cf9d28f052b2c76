#include <weft/autograd/error.hpp>
#include <weft/train/weights/name_pattern.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

TEST_CASE("matching: selects names that an expression matches as a whole", "[train]") {
  const NameFilter filter = matching("blocks\\.(\\d+)\\.attention\\.W_[qv](?!_)|head");
  CHECK(filter("blocks.12.attention.W_q"));
  CHECK(filter("head"));
  CHECK_FALSE(filter("blocks.1.attention.W_k"));
  CHECK_FALSE(filter("blocks.1.attention.W_q.weight"));
  CHECK_FALSE(filter("a.head"));
  // An alternative that matches only a part gives way to the one that matches all.
  CHECK(matching("a|ab|abc")("abc"));
  CHECK(matching("(a|ab)(c|bcd)?")("abcd"));
  CHECK(matching("(?x) a b # with a comment")("ab"));
  CHECK(matching("")(""));
  CHECK_FALSE(matching("")("a"));
}

TEST_CASE("matching_any: selects names that one of several expressions matches", "[train]") {
  const NameFilter filter = matching_any({"a\\..*", "b"});
  CHECK(filter("a.weight"));
  CHECK(filter("b"));
  CHECK_FALSE(filter("b.weight"));
  CHECK_FALSE(matching_any({})(""));
  CHECK_THAT(message_of<ValueError>([] {
               (void)matching_any({"a", "("}, "only");
             }),
             Catch::StartsWith("only: expected a regular expression, got '('"));
}

TEST_CASE("matching: refuses what is no expression, or is nested too deeply", "[train]") {
  const auto error = [](const std::string& pattern) {
    return message_of<ValueError>([&] { (void)matching(pattern, "layers"); });
  };
  CHECK(error("(") ==
        "layers: expected a regular expression, got '(' (end pattern with unmatched parenthesis)");
  CHECK(error("a)(b") ==
        "layers: expected a regular expression, got 'a)(b' (unmatched close "
        "parenthesis)");
  for (const char* part : {"(", "[", "(?:", "(?=", "(a|"})
    for (const int times : {251, 20'000}) {
      std::string pattern;
      for (int i = 0; i < times; ++i) pattern += part;
      CHECK_THAT(error(pattern), Catch::StartsWith("layers: expected an expression "));
    }
  std::string quantifiers = "a";
  for (int i = 0; i < 10'000; ++i) quantifiers += "{1,2}";
  CHECK_THAT(error(quantifiers),
             Catch::StartsWith("layers: expected an expression nested at most"));
  CHECK_THAT(error("\xff"), Catch::StartsWith("layers: expected UTF-8 text"));
}

TEST_CASE("matching: an expression that takes too long is an error", "[train]") {
  const std::string name(60, 'a');
  for (const char* pattern : {"(.|.|.|.)*x", "(a+)+$x", "(a|a)*b", "(?=(a+)+b)a*", "(a*)*\\1b"})
    CHECK_THAT(message_of<ValueError>([&] { (void)matching(pattern)(name); }),
               Catch::StartsWith("pattern: expected an expression that matches in reasonable time, "
                                 "got '"));
}
