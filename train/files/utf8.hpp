// UTF-8 texts: read from files, and split into characters.
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

// Returns whether a byte of UTF-8 is the first one of a character.
inline bool starts_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

// The number of characters (code points) of a UTF-8 text.
WEFT_API std::size_t count_characters(std::string_view text);

// The characters (code points) of `text`, each as UTF-8. Throws as `check_utf8` does.
WEFT_API std::vector<std::string> utf8_characters(std::string_view text, const std::string& what);

// Limits on files that are read as a whole, above those that are in use: of texts and tables.
inline constexpr std::uintmax_t max_text_bytes = std::uintmax_t{4} << 30;
// Of dictionaries and the vocabularies of tokenizers.
inline constexpr std::uintmax_t max_vocabulary_bytes = 64 << 20;

// The contents of a text file, without a byte-order mark. Throws FileError for a file that cannot
// be read, is empty, has more than `max_bytes` or is not UTF-8.
WEFT_API std::string read_text(const std::filesystem::path& path,
                               std::uintmax_t max_bytes = max_text_bytes);

}  // namespace weft
