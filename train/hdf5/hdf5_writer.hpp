// Hdf5Writer: builds an HDF5 file in memory and saves it atomically.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// The same contents give the same bytes. Objects are named by path as in Hdf5File:
// "/encoder/weight", "encoder/weight" and "encoder//weight/" are the same; missing groups are
// created. Every version of HDF5 can read the file. Nothing is written to disk before `save`.
//
// All functions throw ValueError for a path or name that Hdf5File could not read back (the root
// itself, names with control characters, "." and "..", those beyond the limits of Hdf5File), after
// `save`, and for a writer that was moved from; FileError when the library fails, as for a path
// that is taken. The message names the file and the object.
class WEFT_API Hdf5Writer {
 public:
  // `path` is where the file will be saved. Throws FileError when it is empty or has a NUL.
  explicit Hdf5Writer(const std::filesystem::path& path);
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  // Writes a dataset of the tensor's shape and element type: float, double or std::int32_t.
  template <class T>
  void tensor(const std::string& dataset, const Tensor<T>& tensor);
  // Writes a dataset of one element, or an attribute of the file: std::int64_t, double or
  // std::string. Throws ValueError for a string with a NUL, where HDF5 would truncate it, and for
  // one of Hdf5File::max_text_bytes or more.
  template <class T>
  void value(const std::string& dataset, const T& value);
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
