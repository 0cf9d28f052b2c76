#include <weft/autograd/error.hpp>
#include <weft/train/data/characters.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using weft::utf8_characters;

TEST_CASE("UTF-8: text is split into characters of one to four bytes", "[examples]") {
  CHECK(utf8_characters("", "text").empty());
  CHECK(utf8_characters("aé€𐍈", "text") == std::vector<std::string>{"a", "é", "€", "𐍈"});
}

TEST_CASE("UTF-8: invalid, truncated, overlong and surrogate sequences are errors", "[examples]") {
  for (const char* text : {"ab\x80", "ab\xC3", "ab\xC0\xAF", "ab\xE0\x80\x80", "ab\xED\xA0\x80",
                           "ab\xF0\x80\x80\x80", "ab\xF4\x90\x80\x80", "ab\xFF", "ab\xE2\x82"})
    CHECK(contains(message_of<ValueError>([&] { utf8_characters(text, "the name"); }),
                   "the name: expected UTF-8 text, got byte"));
}
