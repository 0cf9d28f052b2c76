// Hdf5Writer: writes an HDF5 file atomically.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "weft/autograd/enum_names.hpp"
#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// How floating-point numbers are stored: as the tensor's, or rounded to nearest, ties to even.
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

// The same contents give the same bytes. Objects are named by path as in Hdf5File:
// "/encoder/weight", "encoder/weight" and "encoder//weight/" are the same; missing groups are
// created. Every version of HDF5 can read the file. Nothing is written to disk before `save`, which
// takes memory for a few blocks only: the writer keeps the tensors themselves.
//
// All functions throw ValueError for a path or name that Hdf5File could not read back (the root
// itself, names with control characters, "." and "..", those beyond the limits of Hdf5File), after
// `save`, and for a writer that was moved from; FileError when the library fails, as for a path
// that is taken. The message names the file and the object.
//   Hdf5Writer writer("model.h5");
//   writer.tensor("encoder/weight", X);
//   writer.save();
class WEFT_API Hdf5Writer {
 public:
  // `path` is where the file will be saved. Throws FileError when it is empty or has a NUL.
  explicit Hdf5Writer(const std::filesystem::path& path);
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  // Adds a dataset of the tensor's shape and elements: float, double or std::int32_t, the first two
  // also in another type. `save` throws ValueError for a number that is beyond that type's largest.
  template <class T>
  void tensor(const std::string& dataset, const Tensor<T>& tensor,
              StorageType type = StorageType::same);
  // The same for a tensor of this shape that `make` returns, while it is saved: only one of them
  // exists at a time. Throws ValueError for an empty function; `save` throws ShapeError when the
  // tensor has another shape.
  template <class T>
  void tensor(const std::string& dataset, const Shape& shape, std::function<Tensor<T>()> make,
              StorageType type = StorageType::same);
  // Adds a dataset of one element: std::int64_t, double or std::string. Throws ValueError for a
  // string with a NUL, where HDF5 would truncate it, and for one of Hdf5File::max_text_bytes or
  // more.
  template <class T>
  void value(const std::string& dataset, const T& value);
  // Adds an attribute of the file. Types and errors as of `value`.
  template <class T>
  void attribute(const std::string& name, const T& value);

  // Writes the file, with the checksum of all bytes before it in a last line. Existing contents of
  // `path` are replaced when the new ones are on disk, or not at all; the permissions of the file
  // stay. Nothing can be added afterwards; where saving fails, it may be repeated.
  void save();

 private:
  struct State;
  State& state() const;
  std::unique_ptr<State> state_;
};

}  // namespace weft
