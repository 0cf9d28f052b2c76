#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

namespace weft {

TEST_CASE("error: control and format characters, and bytes that are not UTF-8 are escaped",
          "[autograd]") {
  CHECK(printable("päper „weft“ 漢字 𝄞 a\\b") == "päper „weft“ 漢字 𝄞 a\\b");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("a\nb\tc\x1b[2J\x7f") == "a\\x0ab\\x09c\\x1b[2J\\x7f");
  // U+009B, which some terminals take for ESC [, and U+00A0 beside it.
  CHECK(printable("\xc2\x9b \xc2\xa0") == "\\xc2\\x9b \xc2\xa0");
  // Format characters: U+202E, after which text runs from right to left, U+00AD, U+200B, U+2067,
  // U+FEFF, U+E0041; and their neighbours U+2010, U+2027, U+202F and U+2070.
  CHECK(printable("a\u202eb") == "a\\xe2\\x80\\xaeb");
  for (const char* text : {"\u00ad", "\u200b", "\u2067", "\ufeff", "\U000e0041"})
    CHECK_THAT(printable(text), Catch::StartsWith("\\x"));
  for (const char* text : {"\u2010", "\u2027", "\u202f", "\u2070"}) CHECK(printable(text) == text);
  // Latin-1, a character that is cut short, and one that continues nothing.
  CHECK(printable("p\xe4per") == "p\\xe4per");
  CHECK(printable("\xe6\xbc") == "\\xe6\\xbc");
  CHECK(printable("\xbf\xff") == "\\xbf\\xff");
  // Longer forms of '/', of U+07FF and of U+FFFF; a surrogate; U+110000.
  for (const char* text :
       {"\xc0\xaf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    CHECK_THAT(printable(text), Catch::StartsWith("\\x"));
  CHECK(printable("") == "");
}

TEST_CASE("error: messages are printable and complete", "[autograd]") {
  const auto message = [](const std::string& got) {
    return message_of<ValueError>([&] { fail<ValueError>("name", "letters", got); });
  };
  CHECK(message(std::string("a\0b", 3)) == "name: expected letters, got a\\x00b");
  CHECK(message("two\nlines\x1b[2J") == "name: expected letters, got two\\x0alines\\x1b[2J");
  CHECK(std::string(FileError("a\nb\x1b").what()) == "a\\x0ab\\x1b");
  const std::string_view part = std::string_view("whole text").substr(0, 5);
  CHECK(std::string(Error(part).what()) == "whole");
}

}  // namespace weft
