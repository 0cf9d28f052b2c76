#include "examples/h5weights/weights_file.hpp"

#include <algorithm>
#include <system_error>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/files/safetensors/safetensors_file.hpp>

namespace weft::h5weights {
namespace {

// Whether the file has a valid checksum. Only files written by weft have a checksum.
bool is_verified(const std::filesystem::path& path) {
  try {
    Hdf5File::open_verified(path);
    return true;
  } catch (const FileError&) {
    return false;
  }
}

}  // namespace

WeightsFile::WeightsFile(const std::filesystem::path& path)
    : opened(open_tensor_file(path)), file(*opened), has_checksum(is_verified(path)) {
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  bytes = ignored ? 0 : size;
}

std::map<std::string, std::string> WeightsFile::paths_by_name() const {
  std::map<std::string, std::string> paths;
  for (const std::string& path : file.datasets()) {
    std::string name = path.substr(1);
    std::replace(name.begin(), name.end(), '/', '.');
    if (const auto [same, is_new] = paths.emplace(name, path); !is_new)
      fail<FileError>(str_cat("file '", file.path().string(), '\''),
                      str_cat("one dataset for ", name), str_cat(same->second, " and ", path));
  }
  return paths;
}

}  // namespace weft::h5weights
