// UTF-8: reading text files, and splitting strings into characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/export.hpp"

namespace weft {

// Throws ValueError, starting with `what` and giving the position of the byte, if `text` is not
// valid UTF-8.
WEFT_API void check_utf8(std::string_view text, const std::string& what);

// Returns whether a byte of UTF-8 is the first byte of a character.
inline bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

// Returns the number of characters (code points) in a UTF-8 string.
WEFT_API std::size_t count_characters(std::string_view text);

// Returns the characters (code points) in `text`, each as a UTF-8 string. Throws the same
// exceptions as `check_utf8`.
WEFT_API std::vector<std::string> utf8_characters(std::string_view text, const std::string& what);

// The maximum size of text files and tables that are read as a whole.
inline constexpr std::uintmax_t max_text_bytes = std::uintmax_t{4} << 30;
// The maximum size of dictionaries and tokenizer vocabularies.
inline constexpr std::uintmax_t max_vocabulary_bytes = 64 << 20;

// Returns the contents of a text file, without a byte-order mark. Throws FileError if the file
// cannot be read, is empty, is larger than `max_bytes` or is not UTF-8.
WEFT_API std::string read_text(const std::filesystem::path& path,
                               std::uintmax_t max_bytes = max_text_bytes);

}  // namespace weft
