#include "train/text/tokenizers/internal/text_pattern.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using nlohmann::json;

namespace {

std::string replaced(const TextPattern& pattern, std::string_view text) {
  TextBudget budget(text.size());
  return pattern.replaced(text, budget,
                          [](const TextMatch&, std::string& result) { result += "<>"; });
}

}  // namespace

TEST_CASE("text pattern: matches what Hugging Face's library matches", "[train]") {
  const json golden = json::parse(std::ifstream(WEFT_TEST_DATA "/patterns.json"));
  const auto text = golden["text"].get<std::string>();
  REQUIRE(golden["replaced"].size() >= 140);
  for (const auto& [expression, expected] : golden["replaced"].items()) {
    CAPTURE(expression);
    if (expected.is_null())
      CHECK_THROWS_AS(replaced(TextPattern("pattern", expression), text), ValueError);
    else
      CHECK(replaced(TextPattern("pattern", expression), text) == expected.get<std::string>());
  }
}

TEST_CASE("text pattern: a literal matches itself, an empty one everywhere", "[train]") {
  CHECK(replaced(TextPattern::literal("a.c"), "a.ca.cabc") == "<><>abc");
  CHECK(replaced(TextPattern::literal("aa"), "aaaaa") == "<><>a");
  CHECK(replaced(TextPattern::literal(""), "aé") == "<>a<>é<>");
  CHECK(replaced(TextPattern::literal(""), "").empty());
  CHECK(replaced(TextPattern("pattern", "x*"), "axb") == "<>a<>b<>");
}

TEST_CASE("text pattern: what searches cost counts for all with one budget", "[train]") {
  const TextPattern pattern("pattern", "(a|a)*$");
  const std::string text = std::string(14, 'a') + '!';
  // One search takes less than the budget for these bytes, five hundred more than all they have.
  CHECK(replaced(pattern, text) == text + "<>");
  TextBudget budget(text.size());
  CHECK(message_of<ValueError>([&] {
          for (int i = 0; i < 500; ++i)
            (void)pattern.replaced(text, budget, [](const TextMatch&, std::string&) {});
        })
            .starts_with("pattern: expected an expression that matches in reasonable time, got "
                         "'(a|a)*$' ("));
  // Long texts without matches do not take longer for each byte.
  const std::string letters(200'000, 'x'), spaces(200'000, ' ');
  CHECK(replaced(TextPattern("pattern", R"(\s+(?!\S)|\s+)"), letters) == letters);
  CHECK(replaced(TextPattern("pattern", R"(\s*[\r\n]+|\s+(?!\S)|\s+)"), spaces + 'x') == "<><>x");
}

TEST_CASE("text pattern: a search of a short text may take about 2^18 retries", "[train]") {
  const TextPattern pattern("pattern", "(a|a)*$");  // each further letter doubles the retries
  const std::string letters(14, 'a'), more(18, 'a');
  CHECK(replaced(pattern, letters + '!') == letters + "!<>");
  CHECK(contains(message_of<ValueError>([&] { (void)replaced(pattern, more + '!'); }),
                 "an expression that matches in reasonable time"));
}
