// Hdf5File: reads HDF5 files that may come from anywhere.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "autograd/error.hpp"
#include "autograd/tensor.hpp"

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

  // True when the file ends with weft's seal: every byte is as weft wrote it.
  bool sealed() const;

  bool has_group(const std::string& path) const;
  // The full paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group = "/") const;

  // A dataset's element type: "float32", "big-endian float64", "int64", "bool", "string",
  // "compound", …
  std::string type(const std::string& dataset) const;
  // Throws also for a dataset without a dataspace of at most Shape::max_rank axes.
  Shape shape(const std::string& dataset) const;

  // A dataset's elements. float and double come from floating-point types of 16, 32 and 64 bits,
  // rounded when need be; std::int32_t from integers, all of which must fit; bool from h5py's bool.
  template <class T>
  Tensor<T> tensor(const std::string& dataset) const;
  // The same for a dataset whose shape is known; nothing is allocated for another.
  template <class T>
  Tensor<T> tensor(const std::string& dataset, const Shape& expected) const;

  // The one element of a dataset, or of an attribute of a group or dataset: std::int64_t, double
  // or std::string (of fixed or variable length; it ends before its first NUL).
  template <class T>
  T value(const std::string& dataset) const;
  template <class T>
  T attribute(const std::string& object, const std::string& name) const;
  bool has_attribute(const std::string& object, const std::string& name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft
