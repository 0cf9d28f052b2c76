#include "examples/gpt/texts.hpp"

#include <algorithm>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/files/utf8.hpp>

namespace weft::gpt {
namespace {

namespace fs = std::filesystem;

// Reads a text. A NUL is an error, because strings in checkpoints cannot contain NULs.
std::string read_file(const fs::path& path) {
  std::string text = read_text(path);
  if (const std::size_t at = text.find('\0'); at != text.npos)
    fail<FileError>("text '" + path.string() + "'", "text", str_cat("a NUL at position ", at));
  return text;
}

}  // namespace

std::string read_texts(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return read_file(path);
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->symlink_status(error).type() == fs::file_type::regular)
      files.push_back(entry->path());
  if (error || files.empty())
    fail<FileError>("folder '" + path.string() + "'", "at least one text file",
                    error ? error.message() : "none");
  std::uintmax_t bytes = 0;
  for (const fs::path& file : files)
    if (const std::uintmax_t size = fs::file_size(file, error); !error) bytes += size;
  if (bytes > max_text_bytes)
    fail<FileError>("folder '" + path.string() + "'",
                    str_cat("texts of at most ", max_text_bytes, " bytes"), bytes);
  std::ranges::sort(files);
  std::string text;
  for (const fs::path& file : files) text += read_file(file);
  return text;
}

TextSplit::TextSplit(std::string_view text) {
  std::size_t left = count_characters(text) * 9 / 10;
  std::size_t end = 0;
  while (end < text.size() && (!starts_character(text[end]) || left-- > 0)) ++end;
  training = text.substr(0, end);
  validation = text.substr(end);
}

}  // namespace weft::gpt
