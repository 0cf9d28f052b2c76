// Texts: what a language model is trained, validated and evaluated on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace weft::gpt {

// The folder of the licences that are on every Debian and Ubuntu machine.
inline const std::filesystem::path licences = "/usr/share/common-licenses";

// The text of a file; of a folder, the texts of its regular files, in the order of their names and
// without links. Throws FileError when a file cannot be read, is empty, not UTF-8 or has a NUL, for
// a folder without files, and for more than max_text_bytes.
std::string read_texts(const std::filesystem::path& path);

// The first 90 % of the characters of a text for training, and the others for validation.
struct TextSplit {
  explicit TextSplit(std::string_view text);

  std::string_view training, validation;
};

}  // namespace weft::gpt
