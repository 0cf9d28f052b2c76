// read_json: parses untrusted JSON strictly. Include it only in .cpp files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Parses a string that is a single JSON value in UTF-8. Throws ValueError, with the position of the
// error, for all other strings: for bytes after the value, a NUL, a repeated name in an object (it
// is ambiguous), more than 100 levels (other functions are recursive), and a number out of the
// range of double. Takes O(n log n) time.
template <class Json = nlohmann::json>
Json read_json(std::string_view text);

// Parses the contents of the file `path`. Throws FileError, naming the file, if read_json would
// throw.
WEFT_API nlohmann::json parse_json(std::string_view text, const std::filesystem::path& path);

extern template nlohmann::json read_json(std::string_view);
extern template nlohmann::ordered_json read_json(std::string_view);

}  // namespace weft
