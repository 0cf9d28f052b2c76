#include "weft/train/data/characters.hpp"

#include <utf8.h>

#include <cstdint>

#include "weft/autograd/error.hpp"

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

}  // namespace weft
