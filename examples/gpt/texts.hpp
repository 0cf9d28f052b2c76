// Texts to train, validate and evaluate a language model on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace weft::gpt {

// The folder of licences that every Debian and Ubuntu machine has.
inline const std::filesystem::path licences = "/usr/share/common-licenses";

// Returns the text of a file, or the concatenated texts of the regular files in a folder, sorted by
// name, without links. Throws FileError if a file cannot be read, is empty, is not UTF-8 or
// contains a NUL, if a folder has no files, and if the text is larger than max_text_bytes.
std::string read_texts(const std::filesystem::path& path);

// Splits a text: the first 90 % of its characters for training, the last 10 % for validation.
struct TextSplit {
  explicit TextSplit(std::string_view text);

  std::string_view training, validation;
};

}  // namespace weft::gpt
