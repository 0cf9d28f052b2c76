#include "examples/common/text_input.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include <weft/autograd/error.hpp>

namespace weft::examples {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_line = 65536;

// Whether reading failed. std::cin reads through `stdin` and treats its errors as the end of input.
bool has_failed(const std::istream& in) {
  return in.bad() || (&in == &std::cin && std::ferror(stdin) != 0);
}

}  // namespace

std::ifstream open_text(const fs::path& path, const std::string& what, std::uintmax_t max_bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail<FileError>(what, "a regular file",
                    fs::is_directory(status) ? "a directory" : "a device, pipe or socket");
  if (const std::uintmax_t bytes = fs::file_size(path, error); !error && bytes > max_bytes)
    fail<FileError>(what, str_cat("a file of at most ", max_bytes, " bytes"),
                    str_cat(bytes, " bytes"));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw FileError("cannot read " + what + ": " + std::strerror(errno));
  return file;
}

bool read_line(std::istream& in, std::string& line, const std::string& what) {
  std::array<char, max_line + 1> buffer;  // and a NUL
  in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  if (has_failed(in)) throw FileError("cannot read " + what + ": " + std::strerror(errno));
  auto size = static_cast<std::size_t>(in.gcount());
  if (in.fail()) {
    if (size == 0) return false;
    fail<FileError>(what, str_cat("lines of at most ", max_line, " bytes"), "a longer line");
  }
  if (!in.eof()) --size;  // the line break
  line.assign(buffer.data(), size);
  return true;
}

void remove_byte_order_mark(std::string& first_line) {
  if (first_line.starts_with(byte_order_mark)) first_line.erase(0, byte_order_mark.size());
}

}  // namespace weft::examples
