// read_json: parses JSON of unknown origin, strictly. Included by definitions only.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Parses a text that is one JSON value in UTF-8. Throws ValueError for any other text, with the
// position of the error, also for bytes after the value, a NUL, a name that an object has twice
// (any of its values might be meant), more than 100 levels (other functions are recursive) and a
// number that a double cannot hold. Takes time proportional to n log n.
template <class Json = nlohmann::json>
Json read_json(std::string_view text);

// Parses the text of the file `path`. Throws FileError, naming the file, where read_json throws.
WEFT_API nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path);

extern template nlohmann::json read_json(std::string_view);
extern template nlohmann::ordered_json read_json(std::string_view);

}  // namespace weft
