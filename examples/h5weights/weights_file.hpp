// WeightsFile: an open file of weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <weft/train/files/tensor_file.hpp>

namespace weft::h5weights {

struct WeightsFile {
  // Throws FileError as open_tensor_file does.
  explicit WeightsFile(const std::filesystem::path& path);

  // The paths of all datasets by their names: the path with '.' for '/'. Throws FileError when two
  // have the same name.
  std::map<std::string, std::string> paths_by_name() const;

  std::unique_ptr<const TensorFile> opened;
  const TensorFile& file;
  // Whether the file ends with the checksum of its other bytes, which then is right.
  bool has_checksum;
  std::uintmax_t bytes;
};

}  // namespace weft::h5weights
