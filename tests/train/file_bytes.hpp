// Reads and writes whole files as strings.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace weft {

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace weft
