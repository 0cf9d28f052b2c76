#include "examples/pronounce/language.hpp"

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using namespace weft::pronounce;

namespace {

const std::vector<Entry> entries = {{"né", {{"N", "EY"}, {"N", "IY"}}}, {"en", {{"EH", "N"}}}};
const Language language = Language::of(entries);

}  // namespace

TEST_CASE("language: letters are UTF-8 characters and case is ignored", "[examples]") {
  CHECK(language.letters.size() == 4 + 3);  // e é n and the special symbols
  CHECK(language.phones.size() == 4 + 4);   // EH EY IY N
  CHECK(language.letters.decode(language.encode("éN")) == std::vector<std::string>{"é", "n"});
  CHECK(language.decode(language.phones.encode(Phones{"N", "IY"})) == Phones{"N", "IY"});
}

TEST_CASE("language: an error names the word that cannot be encoded and the reason", "[examples]") {
  const auto error_for = [](const std::string& word) {
    return message_of<ValueError>([&] { language.encode(word); });
  };
  CHECK(error_for("nix") == "word 'nix': expected letters in the model's vocabulary, got 'i'");
  CHECK(error_for("") == "word '': expected 1 to 64 letters, got 0");
  CHECK(contains(error_for(std::string(65, 'n')), "expected 1 to 64 letters, got 65"));
  CHECK(contains(error_for("n\xFF"), "expected UTF-8 text"));
  CHECK(language.can_encode("en"));
  CHECK_FALSE(language.can_encode("on"));
}

TEST_CASE("language: every pronunciation of a word that can be encoded makes a pair",
          "[examples]") {
  const std::vector<SequencePair> pairs = language.pairs(entries);
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].source == pairs[1].source);
  CHECK(language.decode(pairs[1].target) == Phones{"N", "IY"});
  CHECK(language.pairs(std::vector<Entry>{{"on", {{"N"}}}}).empty());
  CHECK(language.pairs(std::vector<Entry>{{"ne", {{"Q"}}}})[0].target == TokenIds{Vocabulary::unk});
}

TEST_CASE("language: is restored from a configuration", "[examples]") {
  Configuration configuration;
  language.store_in(configuration);
  CHECK(Language::of(configuration) == language);
}
