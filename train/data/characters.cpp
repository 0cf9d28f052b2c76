#include "weft/train/data/characters.hpp"

#include <utf8proc.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/file_contents.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {
namespace {

// The number of bytes of the character at the start of a text that is not empty; 0 when it is
// invalid.
std::size_t first_character(std::string_view text) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(text.size()), &code);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// The position of the first byte that is not part of valid UTF-8; the size of a valid text.
std::size_t find_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = first_character(text.substr(at));
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

// What stands at the position of an invalid byte.
std::string describe(std::string_view text, std::size_t invalid) {
  return concatenate_text("byte ", int{static_cast<std::uint8_t>(text[invalid])}, " at position ",
                          invalid);
}

}  // namespace

void check_utf8(std::string_view text, const std::string& what) {
  if (const std::size_t invalid = find_invalid(text); invalid != text.size())
    fail<ValueError>(what, "UTF-8 text", describe(text, invalid));
}

std::vector<std::string> utf8_characters(std::string_view text, const std::string& what) {
  check_utf8(text, what);
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size(); at += characters.back().size())
    characters.emplace_back(text.substr(at, first_character(text.substr(at))));
  return characters;
}

std::string read_text(const std::filesystem::path& path, std::uintmax_t max_bytes) {
  std::optional<std::string> text = file_contents(path, max_bytes);
  if (!text) fail_on_file(path, "a file", "none");
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
  if (text->empty()) fail_on_file(path, "a text", "an empty file");
  if (const std::size_t invalid = find_invalid(*text); invalid != text->size())
    fail_on_file(path, "UTF-8 text", describe(*text, invalid));
  return std::move(*text);
}

}  // namespace weft
