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
  if (error) throw FileError("cannot create " + what + ": " + error.message());
  std::string name = (directory / ".writable-XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) throw FileError("cannot write to " + what + ": " + std::strerror(errno));
  close(descriptor);
  unlink(name.c_str());
}

std::vector<fs::path> files_in(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<fs::path> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored)) files.push_back(entry->path());
  }
  return files;
}

std::vector<fs::path> model_files(const fs::path& model) {
  const bool is_index = model.filename().string().ends_with(".index.json");
  std::vector<fs::path> files = files_in(is_index ? model.parent_path() / "." : model);
  if (files == std::vector{model}) return files;
  std::erase_if(files, [](const fs::path& file) {
    const std::string name = file.filename().string(), end = file.extension().string();
    return end != ".safetensors" && end != ".json" && end != ".txt" && end != ".jinja" &&
           name != "model.h5" && name != "best.h5";
  });
  return files;
}

void check_replaceable(const fs::path& file, const std::vector<fs::path>& inputs) {
  const std::string what = "output '" + file.string() + "'";
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) return;
  if (!fs::status_known(status)) throw FileError("cannot access " + what + ": " + error.message());
  if (!fs::is_regular_file(status))
    fail<FileError>(what, "a regular file to replace",
                    fs::is_directory(status) ? "a directory" : "a device, pipe or socket");
  if (access(file.c_str(), W_OK) != 0)
    throw FileError("cannot write " + what + ": " + std::strerror(errno));
  for (const fs::path& input : inputs)
    for (const fs::path& each : files_in(input))
      if (fs::equivalent(file, each, error))
        fail<FileError>(what, "a file that is not an input", "an input file");
}

fs::path file_beside(const fs::path& model, const std::string& name) {
  std::error_code error;
  const fs::path folder = fs::is_directory(model, error) ? model : model.parent_path();
  if (folder.empty() || access(folder.c_str(), W_OK) != 0) return name;
  return folder / name;
}

}  // namespace weft::examples
