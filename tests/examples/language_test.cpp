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

TEST_CASE("language: letters are characters, and are read whatever their case", "[examples]") {
  CHECK(language.letters.size() == 4 + 3);  // e é n beside the special ones
  CHECK(language.phones.size() == 4 + 4);   // EH EY IY N
  CHECK(language.letters.decode(language.read("éN")) == std::vector<std::string>{"é", "n"});
  CHECK(language.say(language.phones.encode(Phones{"N", "IY"})) == Phones{"N", "IY"});
}

TEST_CASE("language: a word that cannot be read is named with the reason", "[examples]") {
  const auto complaint = [](const std::string& word) {
    return message_of<ValueError>([&] { language.read(word); });
  };
  CHECK(complaint("nix") ==
        "word 'nix': expected letters that the model was trained with, got 'i'");
  CHECK(complaint("") == "word '': expected 1 … 64 letters, got 0");
  CHECK(contains(complaint(std::string(65, 'n')), "expected 1 … 64 letters, got 65"));
  CHECK(contains(complaint("n\xFF"), "expected UTF-8 text"));
  CHECK(language.can_read("en"));
  CHECK_FALSE(language.can_read("on"));
}

TEST_CASE("language: every pronunciation makes a pair, but for words that cannot be read",
          "[examples]") {
  const std::vector<SequencePair> pairs = language.pairs(entries);
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].source == pairs[1].source);
  CHECK(language.say(pairs[1].target) == Phones{"N", "IY"});
  CHECK(language.pairs(std::vector<Entry>{{"on", {{"N"}}}}).empty());
  CHECK(language.pairs(std::vector<Entry>{{"ne", {{"Q"}}}})[0].target == Sequence{Vocabulary::unk});
}

TEST_CASE("language: a configuration keeps it", "[examples]") {
  Configuration configuration;
  language.keep_in(configuration);
  CHECK(Language::of(configuration) == language);
}
