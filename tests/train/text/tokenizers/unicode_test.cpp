#include "train/text/tokenizers/internal/unicode.hpp"

#include <string>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"

using namespace weft;

TEST_CASE("unicode: code points and UTF-8 are inverse", "[tokenizers]") {
  const std::string text = "aé中😀\xC2\x85";
  std::string copy;
  std::u32string codes;
  for (std::size_t at = 0; at < text.size();) {
    codes += unicode::next_code_point(text, at);
    unicode::append(copy, codes.back());
    CHECK(copy == text.substr(0, at));
  }
  CHECK(codes == U"aé中😀\u0085");
  std::size_t at = 0;
  CHECK_THROWS_WITH(unicode::next_code_point("\xFF", at),
                    "next_code_point: expected UTF-8 text, got an invalid byte");
}

TEST_CASE("unicode: spaces and the characters of words", "[tokenizers]") {
  for (const char32_t code :
       {U'é', U'中', U'1', U'٣', U'Ⅻ', U'_', U'‿', U'\u0301', U'\u200D', U'Ⓐ', U'\U0001F130'})
    CHECK(unicode::is_in_word(code));
  for (const char32_t code : {U' ', U'-', U'$', U'½', U'\u200B'})
    CHECK_FALSE(unicode::is_in_word(code));
  for (const char32_t code : {U' ', U'\t', U'\v', U'\u0085', U'\u00A0', U'\u2028', U'\u3000'})
    CHECK(unicode::is_space(code));
  for (const char32_t code : {U'a', U'\0', U'\u180E', U'\u200B'})
    CHECK_FALSE(unicode::is_space(code));
}

TEST_CASE("unicode: normal forms and lower case", "[tokenizers]") {
  using unicode::Form;
  CHECK(unicode::normal_form("é", Form::nfd) == "e\u0301");
  CHECK(unicode::normal_form("e\u0301", Form::nfc) == "é");
  CHECK(unicode::normal_form("한", Form::nfd) == "\u1112\u1161\u11AB");
  // A mark below stands before one above: U+0323 has combining class 220, U+0307 has 230.
  CHECK(unicode::normal_form("\u1E9B\u0323", Form::nfd) == "\u017F\u0323\u0307");
  CHECK(unicode::normal_form("ﬁ½", Form::nfc) == "ﬁ½");
  CHECK(unicode::normal_form("ﬁé", Form::nfkd) == "fie\u0301");
  CHECK(unicode::normal_form("ﬁe\u0301", Form::nfkc) == "fié");
  CHECK(unicode::lower_case("ΌΣ 中İ") == "όσ 中i\u0307");
}
