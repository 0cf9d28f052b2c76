// TensorFile: a file of named tensors, of any format.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/train/files/stored_dataset.hpp"

namespace weft {

// A file open for reading: an Hdf5File or a SafetensorsFile. Its tensors are named by path:
// "/encoder/0/weight", with or without the leading "/". Every error is a FileError that names the
// file and the object. A file that is replaced while it is open (see AtomicFile) stays as it was.
// May be used on several threads.
class WEFT_API TensorFile {
 public:
  // Limits on files, above the needs of a gigabyte of parameters in ten thousand layers.
  static constexpr std::size_t max_objects = 32'768;   // below the listed group
  static constexpr std::size_t max_name_bytes = 1024;  // per name

  virtual ~TensorFile() = default;

  virtual const std::filesystem::path& path() const = 0;  // of the file
  // "/a/b" for "a/b", "/a/b/" or "/a//b"; "/" for "".
  static std::string full_path(const std::string& path);

  virtual bool has_group(const std::string& path) const = 0;  // whether there is one at that path
  // The full paths of all datasets below a group, sorted.
  virtual std::vector<std::string> datasets(const std::string& group = "/") const = 0;
  // Throws when there is no dataset at that path.
  virtual StoredDataset dataset(const std::string& path) const = 0;

  // dataset(path).tensor<T>(), of any shape or of the expected one.
  template <class T>
  Tensor<T> tensor(const std::string& path) const {
    return dataset(path).template tensor<T>();
  }
  template <class T>
  Tensor<T> tensor(const std::string& path, const Shape& expected) const {
    return dataset(path).template tensor<T>(expected);
  }
  // dataset(path).value<T>().
  template <class T>
  T value(const std::string& path) const {
    return dataset(path).template value<T>();
  }
  // dataset(path).type().
  std::string type(const std::string& path) const { return dataset(path).type(); }
  // dataset(path).shape().
  Shape shape(const std::string& path) const { return dataset(path).shape(); }

 protected:
  TensorFile() = default;
  TensorFile(const TensorFile&) = default;
  TensorFile& operator=(const TensorFile&) = default;
};

}  // namespace weft
