// Hdf5Writer: makes an HDF5 file in memory and saves it whole or not at all.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "weft/autograd/tensor.hpp"

namespace weft {

// The same contents give the same bytes. An object is named by its path; the groups above it are
// made when they are not there. Every version of HDF5 reads the file.
class Hdf5Writer {
 public:
  // Throws FileError when the library cannot make a file; so do the functions below, naming the
  // object. `path` is where the file will be saved.
  explicit Hdf5Writer(const std::filesystem::path& path);
  Hdf5Writer(Hdf5Writer&&) noexcept;
  Hdf5Writer& operator=(Hdf5Writer&&) noexcept;
  ~Hdf5Writer();

  // A dataset of the tensor's shape and element type: float or double.
  template <class T>
  void tensor(const std::string& dataset, const Tensor<T>& tensor);
  // A dataset of one element, or an attribute of the file: std::int64_t, double or std::string.
  // Throws ValueError for a text with a NUL, which HDF5 would cut there.
  template <class T>
  void value(const std::string& dataset, const T& value);
  template <class T>
  void attribute(const std::string& name, const T& value);

  // Seals the file and writes it as `write_atomically` does. Nothing can be added afterwards.
  void save();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft
