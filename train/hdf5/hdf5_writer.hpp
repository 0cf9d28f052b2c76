// Hdf5Writer: builds an HDF5 file in memory and saves it atomically.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

// The same contents give the same bytes. Objects are named by path; missing groups are created.
// Every version of HDF5 can read the file.
class WEFT_API Hdf5Writer {
 public:
  // `path` is where the file will be saved. Throws FileError when the library fails; so do the
  // functions below, naming the object.
  explicit Hdf5Writer(const std::filesystem::path& path);
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  // Writes a dataset of the tensor's shape and element type: float or double.
  template <class T>
  void tensor(const std::string& dataset, const Tensor<T>& tensor);
  // Writes a dataset of one element, or an attribute of the file: std::int64_t, double or
  // std::string. Throws ValueError for a string with a NUL, where HDF5 would truncate it.
  template <class T>
  void value(const std::string& dataset, const T& value);
  template <class T>
  void attribute(const std::string& name, const T& value);

  // Adds a last line with the checksum of all bytes before it and writes the file as
  // `write_atomically` does. Nothing can be added afterwards.
  void save();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft
