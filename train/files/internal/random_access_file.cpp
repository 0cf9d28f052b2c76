#include "train/files/internal/random_access_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "weft/autograd/error.hpp"

namespace weft {

RandomAccessFile::RandomAccessFile(const std::filesystem::path& path) {
  check_path(path);
  struct stat status {};
  // Checks the type first: opening a device may have side effects, and opening a pipe blocks.
  if (::stat(path.c_str(), &status) == 0) check_regular(path, status, "a regular file");
  descriptor_ = FileDescriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor_.valid() || ::fstat(descriptor_.get(), &status) != 0)
    fail_with_errno(path, "read");
  check_regular(path, status, "a regular file");
  size_ = static_cast<std::uint64_t>(status.st_size);
}

RandomAccessFile RandomAccessFile::in_memory(std::string contents) {
  RandomAccessFile file;
  file.size_ = contents.size();
  file.contents_ = std::move(contents);
  return file;
}

bool RandomAccessFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (offset > size_ || bytes.size() > size_ - offset) return false;
  if (!descriptor_.valid()) {
    std::ranges::copy_n(contents_.begin() + static_cast<std::ptrdiff_t>(offset),
                        static_cast<std::ptrdiff_t>(bytes.size()),
                        reinterpret_cast<char*>(bytes.data()));
    return true;
  }
  while (!bytes.empty()) {
    const ssize_t got =
        ::pread(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // the file may have been truncated
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return true;
}

std::string known_content(std::string_view bytes) {
  const std::string torch =
      "a PyTorch file (in Python, convert it with safetensors.torch.save_file(torch.load(file), "
      "…))";
  if (bytes.starts_with("version https://git-lfs")) return "a Git LFS pointer, not the file itself";
  if (bytes.starts_with("PK\3\4")) {
    const auto length = static_cast<std::uint8_t>(bytes.substr(0, 27).back());
    const std::string_view entry = bytes.substr(std::min<std::size_t>(bytes.size(), 30), length);
    if (entry.find("data.pkl") != entry.npos) return torch;
    if (entry.ends_with(".npy"))
      return "a NumPy archive (in Python, convert it with safetensors.numpy.save_file(dict(np.load("
             "file)), …))";
    if (entry.ends_with(".json")) return "a Keras archive (open it with load_keras)";
    return "a zip archive";
  }
  if (bytes.starts_with("\x80\2\x8a\nl\xfc\x9c")) return torch;
  if (bytes.starts_with("\x93NUMPY"))
    return "a NumPy array (in Python, write it with h5py or safetensors.numpy.save_file)";
  if (bytes.starts_with("GGUF"))
    return "a GGUF file (use the Hugging Face model from which it was converted)";
  // Field 1 of a ModelProto, the version, and field 2, a string.
  if (bytes.size() > 8 && bytes[0] == 8 && bytes[1] > 0 && bytes[1] < 32 && bytes[2] == 0x12 &&
      bytes[8] != '{')
    return "an ONNX model (use the PyTorch or Keras model from which it was exported)";
  return "";
}

std::string known_content(const RandomAccessFile& file) {
  std::string bytes(std::min<std::uint64_t>(file.size(), 128), '\0');
  return file.read(0, std::as_writable_bytes(std::span(bytes))) ? known_content(bytes) : "";
}

std::optional<std::string> file_contents(const std::filesystem::path& path,
                                         std::uint64_t max_bytes) {
  std::error_code error;
  if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
    return std::nullopt;
  const RandomAccessFile file(path);
  const auto check_size = [&](std::uint64_t bytes) {
    if (bytes > max_bytes)
      fail_on_file(path, str_cat("a file of at most ", max_bytes, " bytes"),
                   str_cat(bytes, " bytes"));
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
      fail_with_errno(path, "read");
  }
}

}  // namespace weft
