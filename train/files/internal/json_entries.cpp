#include "train/files/internal/json_entries.hpp"

#include <algorithm>

#include "weft/train/files/utf8.hpp"

namespace weft {

std::string shown(const nlohmann::json& value) {
  constexpr std::size_t longest = 80;
  const bool is_text = value.is_string();
  std::string text = is_text ? value.get<std::string>() : value.dump();
  std::size_t end = std::min(longest, text.size());
  while (end < text.size() && !starts_character(text[end])) --end;
  const bool is_cut = end < text.size();
  text.resize(end);
  return str_cat(is_text ? "'" : "", text, is_cut ? "…" : "", is_text ? "'" : "");
}

}  // namespace weft
