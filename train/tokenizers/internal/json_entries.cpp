#include "train/tokenizers/internal/json_entries.hpp"

#include <algorithm>

#include "weft/train/data/characters.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {
namespace {

// How deep arrays and objects stand in each other.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool is_in_text = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') is_in_text = !is_in_text;
    if (is_in_text && c == '\\') ++at;
    if (is_in_text) continue;
    if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return deepest;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path) {
  // What reads or writes a value calls itself for those in it.
  constexpr int deepest = 100;
  try {
    if (const int depth = depth_of(text); depth > deepest)
      fail_on_file(path, concatenate_text("JSON that is nested at most ", deepest, " times"),
                   std::to_string(depth));
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte);
    fail_on_file(path, "JSON",
                 concatenate_text("an error in line ", 1 + std::ranges::count(before, '\n'),
                                  ", at byte ", error.byte, " of the file"));
  }
}

std::string shown(const nlohmann::json& value) {
  constexpr std::size_t longest = 80;
  const bool is_text = value.is_string();
  std::string text = is_text ? value.get<std::string>() : value.dump();
  std::size_t end = std::min(longest, text.size());
  while (end < text.size() && !starts_character(text[end])) --end;
  const bool is_cut = end < text.size();
  text.resize(end);
  return concatenate_text(is_text ? "'" : "", text, is_cut ? "…" : "", is_text ? "'" : "");
}

}  // namespace weft
