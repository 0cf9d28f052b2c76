#include "train/tokenizers/internal/json_entries.hpp"

#include <algorithm>
#include <functional>

#include "weft/train/data/characters.hpp"
#include "train/files/file_descriptor.hpp"

namespace weft {
using nlohmann::json;

bool JsonLimits::operator()(int depth, json::parse_event_t event, const json& parsed) {
  is_deep_ |= depth > max_depth;
  const auto level = static_cast<std::size_t>(depth);
  if (event == json::parse_event_t::object_start && level < names_.size()) names_[level].clear();
  if (event == json::parse_event_t::key && level <= names_.size())
    if (const auto& name = parsed.get_ref<const std::string&>();
        !names_[level - 1].insert(name).second)
      twice_ = concatenate_text("'", name.substr(0, 80), "' twice");
  return depth <= max_depth;
}

void JsonLimits::check() const {
  if (is_deep_)
    fail<ValueError>("JSON", concatenate_text("at most ", max_depth, " levels"), "more");
  if (!twice_.empty()) fail<ValueError>("JSON", "each name once", twice_);
}

json parse_json(std::string_view text, const std::filesystem::path& path) {
  JsonLimits limits;
  try {
    json parsed = json::parse(text, std::ref(limits));
    limits.check();
    return parsed;
  } catch (const json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte);
    fail_on_file(path, "JSON",
                 concatenate_text("an error in line ", 1 + std::ranges::count(before, '\n'),
                                  ", at byte ", error.byte, " of the file"));
  } catch (const json::exception&) {
    fail_on_file(path, "JSON", "a number that is beyond all numbers");
  } catch (const ValueError& error) {
    throw FileError(concatenate_text(quoted(path), ": ", error.what()));
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
