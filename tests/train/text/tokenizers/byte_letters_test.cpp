#include "train/text/tokenizers/internal/byte_letters.hpp"

#include "tests/catch.hpp"

using namespace weft;

TEST_CASE("byte letters: every byte has one, and names are SentencePiece's", "[train]") {
  CHECK(byte_pairs::letters_of("a b\n") == "aĠbĊ");
  // 0xAD, the soft hyphen, is not printable; its neighbours are.
  CHECK(byte_pairs::letters_of("\xac\xad\xae") == "¬Ń®");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    CHECK(byte_pairs::bytes_of(byte_pairs::letters_of(one)) == one);
  }
  CHECK_FALSE(byte_pairs::bytes_of("a b").has_value());
  CHECK(byte_pairs::hexadecimal_name('\n') == "<0x0A>");
  CHECK(byte_pairs::hexadecimal_name('\xbf') == "<0xBF>");
}
