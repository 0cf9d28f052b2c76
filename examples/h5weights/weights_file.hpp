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
  // Opens a file. Throws the same exceptions as open_tensor_file.
  explicit WeightsFile(const std::filesystem::path& path);

  // Returns the paths of all datasets by name: the path with '/' replaced by '.'. Throws FileError
  // if two datasets have the same name.
  std::map<std::string, std::string> paths_by_name() const;

  std::unique_ptr<const TensorFile> opened;
  const TensorFile& file;
  // Whether the file ends with a valid checksum of its other bytes.
  bool has_checksum;
  std::uintmax_t bytes;
};

}  // namespace weft::h5weights
