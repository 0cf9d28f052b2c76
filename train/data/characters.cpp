#include "weft/train/data/characters.hpp"

#include <utf8.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "train/files/file_contents.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {

std::vector<std::string> utf8_characters(std::string_view text, const std::string& what) {
  if (const auto invalid = utf8::find_invalid(text.begin(), text.end()); invalid != text.end())
    fail<ValueError>(what, "UTF-8 text",
                     concatenate_text("byte ", int{static_cast<std::uint8_t>(*invalid)},
                                      " at position ", invalid - text.begin()));
  std::vector<std::string> characters;
  for (auto at = text.begin(); at != text.end();) {
    const auto first = at;
    utf8::unchecked::next(at);
    characters.emplace_back(first, at);
  }
  return characters;
}

std::string read_text(const std::filesystem::path& path) {
  std::optional<std::string> text = file_contents(path);
  if (!text) fail_on_file(path, "a file", "none");
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);
  if (text->empty()) fail_on_file(path, "a text", "an empty file");
  const auto invalid = utf8::find_invalid(text->begin(), text->end());
  if (invalid != text->end())
    fail_on_file(path, "UTF-8 text",
                 concatenate_text("byte ", int{static_cast<std::uint8_t>(*invalid)},
                                  " at position ", invalid - text->begin()));
  return std::move(*text);
}

}  // namespace weft
