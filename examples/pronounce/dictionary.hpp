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

// Returns the phones separated by spaces, such as "HH AH L OW".
std::string to_string(const Phones& phones);

// A word and its pronunciations.
struct Entry {
  std::string word;
  std::vector<Phones> pronunciations;  // at least one, without duplicates
};

// The maximum number of letters of a word and of phones of a pronunciation.
constexpr std::size_t max_len = 64;

// Reads a file in the format of CMUdict. Each line has one pronunciation: the word and its phones,
// separated by blanks. Further pronunciations of a word are written as "word(2)". Empty lines,
// lines that begin with ";;;" and a byte-order mark at the beginning are ignored. Letters A–Z are
// converted to a–z. Returns the entries sorted by word, with the pronunciations of a word in file
// order. Throws FileError if the file is missing, empty, not a regular file, larger than
// max_vocabulary_bytes or not UTF-8. For a malformed line, the error names file and line number.
std::vector<Entry> read_dictionary(const std::filesystem::path& path);
// Reads a dictionary from a stream. Messages call it `name`.
std::vector<Entry> read_dictionary(std::istream& text, const std::string& name);

// Returns `text` with A–Z converted to a–z.
std::string lower_case(std::string_view text);

using examples::parse_split;
using examples::Split;

// Returns the entries in a split. The word of an entry is its key (see split_of).
std::vector<Entry> entries_of(Split split, const std::vector<Entry>& dictionary);

}  // namespace weft::pronounce
