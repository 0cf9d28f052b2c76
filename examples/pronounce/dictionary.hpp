// Dictionary: words, and how each may be pronounced.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "examples/common/held_out.hpp"

namespace weft::pronounce {

// The sounds of a word, such as {"HH", "AH", "L", "OW"}.
using Phones = std::vector<std::string>;

// "HH AH L OW"
std::string to_string(const Phones& phones);

struct Entry {
  std::string word;
  std::vector<Phones> pronunciations;  // at least one, all different
};

// The longest word and the longest pronunciation that a dictionary may have and a model can read
// and say.
constexpr std::size_t max_length = 64;

// The words of a file that has one pronunciation a line, as CMUdict does: the word, then its
// phones, between them blanks; further pronunciations of a word as "word(2)". Lines that begin with
// ";;;" and empty lines are passed over. Letters A–Z are read as a–z. In alphabetical order, so
// that the order of the lines does not matter but within a word. Throws FileError when the file is
// missing, empty or not UTF-8, and for a malformed line, naming file and line number.
std::vector<Entry> read_dictionary(const std::filesystem::path& path);

// `text` with A–Z made a–z.
std::string lower_case(std::string_view text);

using examples::Split;
using examples::split_named;

// The entries of one part; words are held out by the word itself.
std::vector<Entry> entries_of(Split part, const std::vector<Entry>& dictionary);

}  // namespace weft::pronounce
