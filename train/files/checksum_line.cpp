#include "train/files/checksum_line.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "weft/autograd/error.hpp"

namespace weft {
namespace {

constexpr std::string_view prefix = "\nweft xxh128 ";

// The last bytes of a file, if it is long enough for a checksum line.
std::string last_line(const OpenFile& file) {
  std::string line(checksum_line_size, '\0');
  const bool is_long = file.size() >= line.size();
  return is_long && file.read(file.size() - line.size(), std::as_writable_bytes(std::span(line)))
             ? line
             : "";
}

}  // namespace

std::string checksum_line(const Xxh128& contents) {
  return concatenate_text(prefix, contents.text(), '\n');
}

bool has_checksum_line(const OpenFile& file) { return last_line(file).starts_with(prefix); }

void verify_checksum_line(const OpenFile& file, const std::filesystem::path& path) {
  const std::string line = last_line(file);
  const std::uint64_t size = file.size() - line.size();
  std::vector<std::byte> buffer(std::min<std::uint64_t>(size, 1 << 18));
  Xxh128 hash;
  for (std::uint64_t offset = 0; line.starts_with(prefix) && offset < size;) {
    const auto bytes =
        std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size - offset));
    if (!file.read(offset, bytes)) fail_on_file(path, "a file that can be read", "a shorter one");
    hash.add(bytes);
    offset += bytes.size();
  }
  if (line != checksum_line(hash))
    fail_on_file(path, "the checksum of its contents in the last line",
                 "another one (a damaged file)");
}

}  // namespace weft
