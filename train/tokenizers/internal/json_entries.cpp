#include "train/tokenizers/internal/json_entries.hpp"

#include <algorithm>

#include "train/files/file_descriptor.hpp"

namespace weft {

nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte);
    fail_on_file(path, "JSON",
                 concatenate_text("an error in line ", 1 + std::ranges::count(before, '\n'),
                                  ", at byte ", error.byte, " of the file"));
  }
}

}  // namespace weft
