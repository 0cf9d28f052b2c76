// Reading text from files and from standard input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <weft/train/files/utf8.hpp>

namespace weft::examples {

// Opens a text file. Throws FileError, starting with `what`, unless `path` is a readable regular
// file of at most `max_bytes`. Pipes are refused, because opening one waits for a writer.
std::ifstream open_text(const std::filesystem::path& path, const std::string& what,
                        std::uintmax_t max_bytes = max_text_bytes);

// Reads a line without its line break. Returns false at the end. Throws FileError, starting with
// `what`, if reading fails, or if the line is longer than 65536 bytes, as in files that are not
// text.
bool read_line(std::istream& in, std::string& line, const std::string& what);

// The byte-order mark in UTF-8, which some editors write at the beginning of a file. It is not part
// of the text.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Removes a byte-order mark from the first line of a text.
void remove_byte_order_mark(std::string& first_line);

}  // namespace weft::examples
