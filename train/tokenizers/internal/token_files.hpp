// The contents of the files of GPT-2's vocabulary: vocab.json and merges.txt.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::byte_pairs {

// The functions that parse a text name the file `path` in errors.

// Parses an object of names and ids 0, 1, … into the names in the order of their ids. Throws
// FileError for a text that is not such an object, with the position of an error in JSON.
std::vector<std::string> parse_vocabulary(std::string_view text, const std::filesystem::path& path);

struct NamedMerge {
  std::string first, second;
  std::size_t line = 0;  // its number in the file, from 1
};

// Parses two names per line, after a line "#version: …" if there is one. Throws FileError for a
// line that is not two names.
std::vector<NamedMerge> parse_merges(std::string_view text, const std::filesystem::path& path);

// Tokens by name, in the order of their ids, and their merges, the earliest first.
struct NamedTokens {
  std::vector<std::string> names;
  std::vector<NamedMerge> merges;
};

// Throws FileError for that line.
[[noreturn]] void fail_on_line(const std::filesystem::path& path, std::size_t line,
                               const std::string& expected, const std::string& got);

// The inverses.
std::string vocabulary_text(const std::vector<std::string>& names);
std::string merges_text(const std::vector<NamedMerge>& merges);

}  // namespace weft::byte_pairs
