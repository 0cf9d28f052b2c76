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

// A file that Hugging Face's library safetensors reads, with the metadata that transformers expects
// ("format": "pt"). The same contents give the same bytes. Nothing is written before `save`.
class WEFT_API SafetensorsWriter {
 public:
  // `path` is where the file will be saved.
  explicit SafetensorsWriter(std::filesystem::path path) : path_(std::move(path)) {}

  // Adds a tensor of this shape that `make` returns, while it is saved: only one of them exists at
  // a time. A leading "/" is not part of the name. Throws ValueError for a name that is empty or
  // there already, and for an empty function. `save` throws ShapeError when the tensor has another
  // shape, and ValueError for a number that is beyond the largest one of the type.
  template <class T>
  void tensor(const std::string& name, const Shape& shape, std::function<Tensor<T>()> make,
              StorageType type = StorageType::same);

  // Writes the file; existing contents are replaced when the new ones are on disk, or not at all.
  // Throws FileError when writing fails.
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

// Whether a path is that of a safetensors file, by the end of its name.
WEFT_API bool is_safetensors(const std::filesystem::path& path);

}  // namespace weft
