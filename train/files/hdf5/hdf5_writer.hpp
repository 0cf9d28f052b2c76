// Hdf5Writer: writes an HDF5 file atomically.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// How floating-point numbers are stored: in the tensor's type, or rounded to another type (to
// nearest, ties to even).
enum class StorageType { same, float16, bfloat16, float32, float64 };

inline constexpr EnumNames<StorageType, 5> storage_type_names{{
    {StorageType::same, "same"},
    {StorageType::float16, "float16"},
    {StorageType::bfloat16, "bfloat16"},
    {StorageType::float32, "float32"},
    {StorageType::float64, "float64"},
}};
inline std::string to_string(StorageType type) {
  return name_of("storage type", type, storage_type_names);
}

// Writes an HDF5 file that every version of HDF5 can read. Equal contents produce equal bytes.
// Objects are named by path as in Hdf5File: "/encoder/weight", "encoder/weight" and
// "encoder//weight/" are the same. Missing groups are created. Nothing is written to disk before
// `save`. The writer keeps references to the tensors, not copies, so `save` needs memory for only a
// few blocks.
//
// All functions throw ValueError for a path or name that Hdf5File could not read back (the root
// itself, names with control characters, "." and "..", and names that exceed the limits of
// Hdf5File), for a call after `save`, and for a moved-from writer. They throw FileError if the HDF5
// library fails, for example because a path is already used. The message names the file and the
// object.
//   Hdf5Writer writer("model.h5");
//   writer.tensor("encoder/weight", X);
//   writer.save();
class WEFT_API Hdf5Writer {
 public:
  // Creates a writer. `save` will write to `path`. Throws FileError if `path` is empty or contains
  // a NUL.
  explicit Hdf5Writer(const std::filesystem::path& path);
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  // Adds a dataset with the tensor's shape and elements: float, double or std::int32_t. float and
  // double can be stored as another type; `save` throws ValueError for a number beyond its range.
  template <class T>
  void tensor(const std::string& dataset, const Tensor<T>& tensor,
              StorageType type = StorageType::same);
  // Adds a dataset whose tensor is created by `make` during `save`, so that only one such tensor
  // exists at a time. Throws ValueError for an empty function. `save` throws ShapeError if the
  // tensor does not have the shape `shape`.
  template <class T>
  void tensor(const std::string& dataset, const Shape& shape, std::function<Tensor<T>()> make,
              StorageType type = StorageType::same);
  // Adds a dataset of one element: std::int64_t, double or std::string. Throws ValueError for a
  // string that contains a NUL, at which HDF5 would truncate it, and for a string of
  // Hdf5File::max_text_bytes or more.
  template <class T>
  void value(const std::string& dataset, const T& value);
  // Adds an empty group.
  void group(const std::string& group);
  // Adds an attribute to the file's root group: std::int64_t, double, std::string or
  // std::vector<std::string>. Throws the same exceptions as `value`, and ValueError for strings of
  // 64 kB or more in all.
  template <class T>
  void attribute(const std::string& name, const T& value) {
    attribute("/", name, value);
  }
  // Adds an attribute to an existing group or dataset.
  template <class T>
  void attribute(const std::string& object, const std::string& name, const T& value);

  // Writes the file. Its last line contains the checksum of all bytes before it. An existing file
  // is replaced only when the new contents are on disk, and keeps its permissions. Nothing can be
  // added afterwards. If `save` fails, it may be called again.
  void save();
  // Returns the bytes that `save` would write, without the last line, for example to store them in
  // an archive. Nothing can be added afterwards.
  std::string bytes();

 private:
  struct State;
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace weft
