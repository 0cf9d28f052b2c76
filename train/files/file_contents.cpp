#include "train/files/file_contents.hpp"

#include <unistd.h>

#include <cerrno>

#include "weft/autograd/error.hpp"
#include "train/files/open_file.hpp"

namespace weft {

std::optional<std::string> file_contents(const std::filesystem::path& path,
                                         std::uintmax_t max_bytes) {
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
    return std::nullopt;
  const OpenFile file(path);
  const auto check_size = [&](std::uintmax_t bytes) {
    if (bytes > max_bytes)
      fail_on_file(path, concatenate_text("a file of at most ", max_bytes, " bytes"),
                   concatenate_text(bytes, " bytes"));
  };
  check_size(file.size());
  std::string contents;
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.descriptor().get(), block, sizeof block);
    if (count == 0) return contents;
    if (count > 0)
      check_size(contents.append(block, static_cast<std::size_t>(count)).size());
    else if (errno != EINTR)
      fail_with_errno(path, "a file that can be read");
  }
}

}  // namespace weft
