// What the fuzzers' targets share: an input as a file, which the library may refuse.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <weft/autograd/error.hpp>

namespace weft {

// Files are refused by exceptions of weft, and by nothing else.
template <class Function>
void attempt(const Function& function) {
  try {
    function();
  } catch (const Error&) {
  }
}

// A folder of this process.
inline const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    std::string name = (std::filesystem::temp_directory_path() / "weft-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    return std::filesystem::path(name);
  }();
  return path;
}

// The folder `data` next to the program, which seeds.sh writes.
inline std::filesystem::path data_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "data";
}

// Writes a file of that folder, "adapter/config.json", and returns its path.
inline std::filesystem::path write(const std::string& name, const std::string& contents) {
  const std::filesystem::path path = folder() / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

// A text in two parts, with a NUL between them.
inline std::pair<std::string, std::string> parts_of(const std::string& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  return {text.substr(0, end), text.substr(std::min(end + 1, text.size()))};
}

}  // namespace weft
