#include "examples/common/output_files.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <weft/autograd/error.hpp>

namespace weft::examples {

namespace fs = std::filesystem;

void make_directory(const fs::path& directory) {
  const std::string what = "directory '" + directory.string() + "'";
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail<FileError>(what, "a directory that can be created", error.message());
  std::string name = (directory / ".writable-XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) fail<FileError>(what, "a writable directory", std::strerror(errno));
  close(descriptor);
  unlink(name.c_str());
}

void check_replaceable(const fs::path& file, const std::vector<fs::path>& inputs) {
  const std::string what = "output '" + file.string() + "'";
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return;
  if (!fs::status_known(status)) fail<FileError>(what, "a file to write", error.message());
  if (!fs::is_regular_file(status))
    fail<FileError>(what, "a regular file to replace",
                    fs::is_directory(status) ? "a directory" : "a device, pipe or socket");
  if (access(file.c_str(), W_OK) != 0)
    fail<FileError>(what, "a writable file", std::strerror(errno));
  for (const fs::path& input : inputs)
    if (fs::equivalent(file, input, error))
      fail<FileError>(what, "another file than the input", "the same one");
}

fs::path file_beside(const fs::path& model, const std::string& name) {
  std::error_code error;
  const fs::path folder = fs::is_directory(model, error) ? model : model.parent_path();
  if (folder.empty() || access(folder.c_str(), W_OK) != 0) return name;
  return folder / name;
}

}  // namespace weft::examples
