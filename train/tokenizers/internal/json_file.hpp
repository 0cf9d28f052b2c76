// read_json: a JSON file.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace weft {

// Throws FileError for a file that cannot be read, is not UTF-8 or is not JSON, with the position
// of the error.
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace weft
