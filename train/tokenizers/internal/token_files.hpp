// The files of GPT-2's vocabulary: vocab.json and merges.txt.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weft::byte_pairs {

// Reads an object of names and ids 0, 1, … as the names in the order of their ids. Throws FileError
// for a file that cannot be read, that is not UTF-8 or not such an object.
std::vector<std::string> read_vocabulary(const std::filesystem::path& path);

struct MergeLine {
  std::string first, second;
  std::size_t line;  // its number, from 1
};

// Reads two names per line, after a line "#version: …" if there is one. Throws FileError for a file
// that cannot be read or is not UTF-8, and for a line that is not two names.
std::vector<MergeLine> read_merges(const std::filesystem::path& path);

// Throws FileError for that line.
[[noreturn]] void fail_on_line(const std::filesystem::path& path, std::size_t line,
                               const std::string& expected, const std::string& got);

// Throw FileError when the file cannot be written.
void write_vocabulary(const std::filesystem::path& path, const std::vector<std::string>& names);
void write_merges(const std::filesystem::path& path,
                  const std::vector<std::pair<std::string, std::string>>& merges);

}  // namespace weft::byte_pairs
