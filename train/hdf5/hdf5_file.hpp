// Hdf5File: reads HDF5 files that may come from anywhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "weft/autograd/error.hpp"
#include "weft/train/hdf5/hdf5_dataset.hpp"

namespace weft {

// A file open for reading. An object is named by its path: "/encoder/0/weight", with or without the
// first "/". Nothing outside the file is read or loaded on its behalf: links other than hard ones,
// data kept in other files and filters other than deflate, shuffle and fletcher32 are refused, and
// data are read only when all of them are stored in the file. Everything here throws FileError,
// naming the file and the object. Files may be used on several threads; they take turns.
class Hdf5File {
 public:
  // What a file may have at most. A gigabyte of parameters in ten thousand layers fits well.
  static constexpr std::size_t max_objects = 65'536;         // below the group that is listed
  static constexpr std::size_t max_depth = 32;               // groups inside each other
  static constexpr std::size_t max_name_bytes = 1024;        // a name
  static constexpr std::size_t max_chunks = 65'536;          // a dataset
  static constexpr std::size_t max_text_bytes = 16'777'216;  // a text, or an object's attributes

  // Throws when there is no regular, readable, whole HDF5 file, when another process is writing it,
  // and when it has a seal (see sealed_file.hpp) that is not its own.
  explicit Hdf5File(const std::filesystem::path& path);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  ~Hdf5File();

  // The same, and throws, before the library sees the file, when it has no seal: it is weft's own,
  // and every byte is as it was written, or it is refused.
  static Hdf5File open_sealed(const std::filesystem::path& path);

  const std::filesystem::path& path() const;
  // "/a/b" for "a/b", "/a/b/" or "/a//b"; "/" for "".
  static std::string full_path(const std::string& path);

  bool has_group(const std::string& path) const;
  // The full paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group = "/") const;

  // Throws when there is no dataset of that path, or one with data in other files or behind
  // filters that are not built in.
  Hdf5Dataset dataset(const std::string& path) const;

  // dataset(path).tensor<T>() and so on.
  template <class T>
  Tensor<T> tensor(const std::string& path) const {
    return dataset(path).template tensor<T>();
  }
  template <class T>
  Tensor<T> tensor(const std::string& path, const Shape& expected) const {
    return dataset(path).template tensor<T>(expected);
  }
  template <class T>
  T value(const std::string& path) const {
    return dataset(path).template value<T>();
  }
  std::string type(const std::string& path) const { return dataset(path).type(); }
  Shape shape(const std::string& path) const { return dataset(path).shape(); }

  // An attribute of a group or dataset, of one element: std::int64_t, double or std::string.
  template <class T>
  T attribute(const std::string& object, const std::string& name) const;
  bool has_attribute(const std::string& object, const std::string& name) const;

 private:
  struct State;
  explicit Hdf5File(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace weft
