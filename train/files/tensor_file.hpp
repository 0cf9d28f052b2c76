// TensorFile: a file of named tensors, in HDF5 or safetensors format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/stored_dataset.hpp"

namespace weft {

// Base class of files open for reading: Hdf5File and SafetensorsFile. Tensors are named by path,
// such as "/encoder/0/weight", with or without the leading "/". Every function throws FileError,
// naming the file and the object, if it fails. If the file is replaced atomically while it is open
// (see AtomicFile), the old contents are read. Several threads may use it at once.
class WEFT_API TensorFile {
 public:
  // Limits on files, larger than needed for a gigabyte of parameters in ten thousand layers.
  static constexpr std::size_t max_objects = 32'768;   // objects below a group
  static constexpr std::size_t max_name_bytes = 1024;  // bytes per name

  virtual ~TensorFile() = default;

  virtual const std::filesystem::path& path() const = 0;  // the path of the file
  // Returns the normalized path of an object: "/a/b" for "a/b", "/a/b/" or "/a//b"; "/" for "".
  static std::string full_path(const std::string& path);

  virtual bool has_group(const std::string& path) const = 0;  // whether `path` is a group
  // Returns the full paths of all datasets below a group, sorted.
  virtual std::vector<std::string> datasets(const std::string& group = "/") const = 0;
  // Opens a dataset. Throws if there is no dataset at `path`.
  virtual StoredDataset dataset(const std::string& path) const = 0;

  // Returns dataset(path).tensor<T>(), of any shape [...].
  template <class T>
  Tensor<T> tensor(const std::string& path) const {
    return dataset(path).template tensor<T>();
  }
  // Returns dataset(path).tensor<T>(expected), a tensor [...] of the expected shape.
  template <class T>
  Tensor<T> tensor(const std::string& path, const Shape& expected) const {
    return dataset(path).template tensor<T>(expected);
  }
  // Returns dataset(path).value<T>().
  template <class T>
  T value(const std::string& path) const {
    return dataset(path).template value<T>();
  }
  // Returns dataset(path).type().
  std::string type(const std::string& path) const { return dataset(path).type(); }
  // Returns dataset(path).shape().
  Shape shape(const std::string& path) const { return dataset(path).shape(); }

 protected:
  TensorFile() = default;
  TensorFile(const TensorFile&) = default;
  TensorFile& operator=(const TensorFile&) = default;
};

}  // namespace weft
