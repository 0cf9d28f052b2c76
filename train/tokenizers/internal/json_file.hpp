// parse_json: the contents of a JSON file.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace weft {

// Throws FileError, naming the file `path`, for a text that is not JSON, with the position of the
// error.
nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path);

}  // namespace weft
