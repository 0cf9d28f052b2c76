#include "train/tokenizers/internal/unicode.hpp"

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
                    "next_code_point: expected UTF-8 text, got another byte");
}

TEST_CASE("unicode: categories of code points", "[tokenizers]") {
  CHECK(unicode::is_letter(U'é'));
  CHECK(unicode::is_letter(U'中'));
  CHECK_FALSE(unicode::is_letter(U'1'));
  CHECK(unicode::is_number(U'٣'));
  CHECK(unicode::is_number(U'Ⅻ'));
  CHECK(unicode::is_number(U'½'));
  CHECK_FALSE(unicode::is_number(U'x'));
  CHECK(unicode::is_punctuation(U'«'));
  CHECK_FALSE(unicode::is_punctuation(U'$'));
  CHECK(unicode::is_nonspacing_mark(U'\u0301'));
  CHECK_FALSE(unicode::is_nonspacing_mark(U'\u0903'));
  for (const char32_t code : {U'\0', U'\u007F', U'\u200D', U'\uE000'})
    CHECK(unicode::is_control(code));
  for (const char32_t code : {U'a', U' ', U'\U000E0080'}) CHECK_FALSE(unicode::is_control(code));
  for (const char32_t code : {U' ', U'\t', U'\v', U'\u0085', U'\u00A0', U'\u2028', U'\u3000'})
    CHECK(unicode::is_space(code));
  CHECK_FALSE(unicode::is_space(U'\u200B'));
}

TEST_CASE("unicode: canonical decomposition and lower case", "[tokenizers]") {
  CHECK(unicode::decompose(U"é") == U"e\u0301");
  CHECK(unicode::decompose(U"한") == U"\u1112\u1161\u11AB");
  // A mark below stands before one above: U+0323 has combining class 220, U+0307 has 230.
  CHECK(unicode::decompose(U"\u1E9B\u0323") == U"\u017F\u0323\u0307");
  CHECK(unicode::decompose(U"ﬁ") == U"ﬁ");
  CHECK(unicode::lower_case(U"ΌΣ 中İ") == U"όσ 中i\u0307");
}
