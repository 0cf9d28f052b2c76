#include "examples/pronounce/dictionary.hpp"

#include <filesystem>
#include <fstream>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;
using namespace weft::pronounce;

namespace {

// A file that holds `text` while it lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("weft_dictionary_" + std::to_string(std::hash<std::string>{}(text)) + ".dict")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What reading a dictionary of `text` complains of.
std::string complaint_about(const std::string& text) {
  const TemporaryFile file(text);
  return message_of<FileError>([&] { read_dictionary(file.path()); });
}

}  // namespace

TEST_CASE("dictionary: variants are gathered under their word, wherever they stand", "[examples]") {
  const TemporaryFile file(
      "either IY DH ER\n"
      "a AH\n"
      ";;; a comment\n"
      "\n"
      "Either(2)\tAY DH ER\r\n"
      "a(2) EY\n"
      "a(3) AH\n");
  const std::vector<Entry> entries = read_dictionary(file.path());
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].word == "a");
  CHECK(entries[0].pronunciations == std::vector<Phones>{{"AH"}, {"EY"}});
  CHECK(entries[1].word == "either");
  CHECK(entries[1].pronunciations == std::vector<Phones>{{"IY", "DH", "ER"}, {"AY", "DH", "ER"}});
  CHECK(to_string(entries[1].pronunciations[0]) == "IY DH ER");
}

TEST_CASE("dictionary: a malformed line is named with its file and number", "[examples]") {
  CHECK(contains(complaint_about("a AH\nhello\n"),
                 ".dict', line 2: a dictionary's line: expected a word and its phones, "
                 "got 'hello' alone"));
  CHECK(contains(complaint_about("a AH\n\n(2) AH\n"), "line 3: "));
  CHECK(
      contains(complaint_about("x(y) AH\n"), "line 1: a dictionary's line: expected a word such"));
  CHECK(contains(complaint_about("a AH\nna\xEFve N AY IY V\n"),
                 "line 2: a dictionary's line: expected UTF-8 text, got byte 239 at position 2"));
  CHECK(contains(complaint_about("a \xFF\n"), "expected UTF-8 text, got byte 255 at position 0"));
  CHECK(contains(complaint_about(std::string("a\0b AH\n", 7)), "control character"));
  CHECK(contains(complaint_about(std::string(65, 'a') + " AH\n"), "at most 64 letters and phones"));
}

TEST_CASE("dictionary: a missing, empty or unfit file is named", "[examples]") {
  CHECK(contains(complaint_about(""), "expected at least one word, got none"));
  CHECK(
      message_of<FileError>([] { read_dictionary("no/such.dict"); }) ==
      "dictionary 'no/such.dict': expected a file that can be read, got No such file or directory");
  CHECK(contains(
      message_of<FileError>([] { read_dictionary(std::filesystem::temp_directory_path()); }),
      "expected a file, got a folder"));
}

TEST_CASE("dictionary: a word is in the part that its letters decide", "[examples]") {
  const std::vector<Entry> entries{{"a", {{"AH"}}}, {"to", {{"T", "UW"}}}, {"toe", {{"T", "OW"}}}};
  std::size_t found = 0;
  for (const Split part : {Split::train, Split::validation, Split::test})
    for (const Entry& entry : entries_of(part, entries)) {
      CHECK(examples::split_of(entry.word) == part);
      ++found;
    }
  CHECK(found == entries.size());
}
