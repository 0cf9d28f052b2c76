// SafetensorsWriter: writes a safetensors file atomically.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"

namespace weft {

// Writes a file for Hugging Face's safetensors library, with the metadata that transformers expects
// ("format": "pt"). Equal contents produce equal bytes. Nothing is written before `save`.
class WEFT_API SafetensorsWriter {
 public:
  // Creates a writer. `save` will write to `path`.
  explicit SafetensorsWriter(std::filesystem::path path) : path_(std::move(path)) {}

  // Adds a tensor that is created by `make` during `save`, so that only one such tensor exists at a
  // time. A leading "/" is not part of the name. Throws ValueError for a name that is empty or
  // already used, and for an empty function. `save` throws ShapeError if the tensor does not have
  // the shape `shape`, and ValueError for a number beyond the range of `type`.
  template <class T>
  void tensor(const std::string& name, const Shape& shape, std::function<Tensor<T>()> make,
              StorageType type = StorageType::same);

  // Writes the file. An existing file is replaced only when the new contents are on disk. Throws
  // FileError if writing fails.
  void save();

 private:
  struct Entry {
    std::string type;  // "F32"
    Shape shape;
    std::uint64_t bytes;
    std::function<void(const std::function<void(std::span<const std::byte>)>& sink)> store;
  };

  std::filesystem::path path_;
  std::map<std::string, Entry> entries_;  // by name
};

// Returns whether the name of a file ends with ".safetensors".
WEFT_API bool is_safetensors(const std::filesystem::path& path);

}  // namespace weft
