#include "examples/pronounce/dictionary.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using namespace weft::pronounce;

namespace {

// A file with the content `text`, removed by the destructor.
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

// The error message when reading a dictionary file with the content `text`.
std::string error_for(const std::string& text) {
  const TemporaryFile file(text);
  return message_of<FileError>([&] { read_dictionary(file.path()); });
}

}  // namespace

TEST_CASE("dictionary: all pronunciations of a word are merged into one entry", "[examples]") {
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

TEST_CASE("dictionary: a file that is too large is an error", "[examples]") {
  const TemporaryFile file("a AH\n");
  std::filesystem::resize_file(file.path(), std::uintmax_t{20} << 30);
  CHECK(contains(message_of<FileError>([&] { read_dictionary(file.path()); }),
                 "expected a file of at most 67108864 bytes, got 21474836480 bytes"));
}

TEST_CASE("dictionary: an error for a malformed line names the file and the line number",
          "[examples]") {
  CHECK(contains(error_for("a AH\nhello\n"),
                 ".dict', line 2: dictionary line: expected a word and its phones, "
                 "got only 'hello'"));
  CHECK(contains(error_for("a AH\n\n(2) AH\n"), "line 3: "));
  CHECK(contains(error_for("x(y) AH\n"), "line 1: dictionary line: expected a word such"));
  CHECK(contains(error_for("a AH\nna\xEFve N AY IY V\n"),
                 "line 2: dictionary line: expected UTF-8 text, got byte 239 at position 2"));
  CHECK(contains(error_for("a \xFF\n"), "expected UTF-8 text, got byte 255 at position 2"));
  CHECK(contains(error_for(std::string("a\0b AH\n", 7)), "control character"));
  CHECK(contains(error_for(std::string(65, 'a').append(" AH\n")),
                 "at most 64 letters and at most 64 phones"));
  CHECK(contains(error_for("a AH\n\xEF\xBB\xBF"
                           "b B\n"),
                 "line 2: dictionary line: expected text, got a byte-order mark"));
  CHECK(contains(error_for("a AH\n" + std::string(70000, '\0')),
                 ".dict', line 2: expected lines of at most 65536 bytes, got a longer line"));
}

TEST_CASE("dictionary: a byte-order mark is not a letter of the first word", "[examples]") {
  const TemporaryFile file(
      "\xEF\xBB\xBF"
      "a AH\nb B\n");
  const std::vector<Entry> entries = read_dictionary(file.path());
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].word == "a");
  const TemporaryFile comment("\xEF\xBB\xBF;;; a comment\nb B\n");
  CHECK(read_dictionary(comment.path()).size() == 1);
}

TEST_CASE("dictionary: a pipe is refused", "[examples]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK(contains(message_of<FileError>([&] { read_dictionary(folder / "pipe"); }),
                 "expected a regular file, got a device, pipe or socket"));
}

TEST_CASE("dictionary: an error names a missing, empty or invalid file", "[examples]") {
  CHECK(contains(error_for(""), "expected at least one word, got none"));
  CHECK(message_of<FileError>([] { read_dictionary("no/such.dict"); }) ==
        "cannot read dictionary 'no/such.dict': No such file or directory");
  CHECK(contains(
      message_of<FileError>([] { read_dictionary(std::filesystem::temp_directory_path()); }),
      "expected a regular file, got a directory"));
}

TEST_CASE("dictionary: the split of an entry depends on its word only", "[examples]") {
  const std::vector<Entry> entries{{"a", {{"AH"}}}, {"to", {{"T", "UW"}}}, {"toe", {{"T", "OW"}}}};
  std::size_t count = 0;
  for (const Split split : {Split::train, Split::validation, Split::test})
    for (const Entry& entry : entries_of(split, entries)) {
      CHECK(examples::split_of(entry.word) == split);
      ++count;
    }
  CHECK(count == entries.size());
}
