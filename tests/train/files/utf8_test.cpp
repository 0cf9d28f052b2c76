#include <weft/autograd/error.hpp>
#include <weft/train/files/utf8.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using weft::utf8_characters;

TEST_CASE("UTF-8: text is split into characters of one to four bytes", "[examples]") {
  CHECK(utf8_characters("", "text").empty());
  CHECK(utf8_characters("aé€𐍈", "text") == std::vector<std::string>{"a", "é", "€", "𐍈"});
}

TEST_CASE("UTF-8: characters are counted by their first bytes", "[examples]") {
  CHECK(weft::count_characters("") == 0);
  CHECK(weft::count_characters("aé€𐍈") == 4);
}

TEST_CASE("UTF-8: invalid, truncated, overlong and surrogate sequences are errors", "[examples]") {
  for (const char* text : {"ab\x80", "ab\xC3", "ab\xC0\xAF", "ab\xE0\x80\x80", "ab\xED\xA0\x80",
                           "ab\xF0\x80\x80\x80", "ab\xF4\x90\x80\x80", "ab\xFF", "ab\xE2\x82"})
    CHECK(contains(message_of<ValueError>([&] { utf8_characters(text, "the name"); }),
                   "the name: expected UTF-8 text, got byte"));
}

TEST_CASE("read_text: a file that is too large is an error", "[train]") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "text.txt";
  write_bytes(path, "five\n");
  CHECK(read_text(path, 5) == "five\n");
  CHECK(contains(message_of<FileError>([&] { read_text(path, 4); }),
                 "text.txt\": expected a file of at most 4 bytes, got 5 bytes"));
  std::filesystem::resize_file(path, std::uintmax_t{20} << 30);
  CHECK(contains(message_of<FileError>([&] { read_text(path); }),
                 "expected a file of at most 4294967296 bytes, got 21474836480 bytes"));
}
