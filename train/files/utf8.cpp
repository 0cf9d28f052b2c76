#include "weft/train/files/utf8.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/internal/code_point.hpp"
#include "train/files/internal/file_descriptor.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft {
namespace {

// Returns the position of the first byte that is not part of valid UTF-8; the size of a valid text.
std::size_t find_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = first_code_point(text.substr(at)).bytes;
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

// Describes an invalid byte and its position.
std::string describe(std::string_view text, std::size_t invalid) {
  return str_cat("byte ", int{static_cast<std::uint8_t>(text[invalid])}, " at position ", invalid);
}

}  // namespace

void check_utf8(std::string_view text, const std::string& what) {
  if (const std::size_t invalid = find_invalid(text); invalid != text.size())
    fail<ValueError>(what, "UTF-8 text", describe(text, invalid));
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_character));
}

std::vector<std::string> utf8_characters(std::string_view text, const std::string& what) {
  check_utf8(text, what);
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size(); at += characters.back().size())
    characters.emplace_back(text.substr(at, first_code_point(text.substr(at)).bytes));
  return characters;
}

std::string read_text(const std::filesystem::path& path, std::uintmax_t max_bytes) {
  std::optional<std::string> text = file_contents(path, max_bytes);
  if (!text) fail_on_file(path, "a file", "no such file");
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
  if (text->empty()) fail_on_file(path, "text", "an empty file");
  if (const std::size_t invalid = find_invalid(*text); invalid != text->size())
    fail_on_file(path, "UTF-8 text", describe(*text, invalid));
  return std::move(*text);
}

}  // namespace weft
