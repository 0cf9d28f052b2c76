// Pronunciation dictionaries.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "examples/common/held_out.hpp"

namespace weft::pronounce {

// The phones of a word, such as {"HH", "AH", "L", "OW"}.
using Phones = std::vector<std::string>;

// "HH AH L OW"
std::string to_string(const Phones& phones);

struct Entry {
  std::string word;
  std::vector<Phones> pronunciations;  // at least one, without duplicates
};

// The maximum number of letters of a word and of phones of a pronunciation.
constexpr std::size_t max_len = 64;

// Reads a file in the format of CMUdict, with one pronunciation per line: the word, then its
// phones, separated by blanks; further pronunciations of a word as "word(2)". Empty lines and lines
// that begin with ";;;" are ignored, and so is a byte-order mark at the beginning. Letters A–Z are
// converted to a–z. Entries are sorted by word, the pronunciations of a word are in file order.
// Throws FileError when the file is missing, empty, no regular file, larger than
// max_vocabulary_bytes or not UTF-8, and for a malformed line, naming file and line number.
std::vector<Entry> read_dictionary(const std::filesystem::path& path);
// The same for its text; `name` is its name in messages.
std::vector<Entry> read_dictionary(std::istream& text, const std::string& name);

// `text` with A–Z converted to a–z.
std::string lower_case(std::string_view text);

using examples::parse_split;
using examples::Split;

// The entries in a split; an entry's key is its word.
std::vector<Entry> entries_of(Split split, const std::vector<Entry>& dictionary);

}  // namespace weft::pronounce
