// The limits of what a tokenizer's steps may do for a text.
#include <string>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "train/text/tokenizers/internal/text_pattern.hpp"

using namespace weft;

TEST_CASE("text budget: a single search may take some hundred thousand retries", "[train]") {
  const TextPattern pattern("pattern", "(a|a)*$");  // each further letter doubles the retries
  const auto error_for = [&](std::size_t letters) {
    const std::string text = std::string(letters, 'a') + '!';
    TextBudget budget(text.size());
    return message_of<ValueError>(
        [&] { (void)pattern.replaced(text, budget, [](const TextMatch&, std::string&) {}); });
  };
  CHECK(error_for(14).empty());  // about 2^16 retries
  CHECK(contains(error_for(18), "an expression that matches in reasonable time"));  // about 2^20
}
