// Hdf5Dataset: one dataset of an Hdf5File.
#pragma once

#include <memory>
#include <string>

#include "weft/autograd/tensor.hpp"

namespace weft {

// Looked at, not read yet. Must not outlive its file. Everything here throws FileError, naming the
// file and the dataset.
class Hdf5Dataset {
 public:
  Hdf5Dataset(Hdf5Dataset&&) noexcept;
  Hdf5Dataset& operator=(Hdf5Dataset&&) noexcept;
  ~Hdf5Dataset();

  // The path in the file.
  const std::string& path() const;
  // What an element is: "float32", "big-endian float64", "int64", "bool", "string", "compound", …
  std::string type() const;
  // Throws when there is no dataspace, or one of more than Shape::max_rank axes.
  Shape shape() const;

  // The elements. float and double come from floating-point types of 16, 32 and 64 bits, rounded
  // when need be; std::int32_t from integers, all of which must fit; bool from h5py's bool. Throws
  // for other types, and when not all of the data are stored in the file.
  template <class T>
  Tensor<T> tensor() const;
  // The same for a shape that is known; nothing is allocated for another.
  template <class T>
  Tensor<T> tensor(const Shape& expected) const;
  // The only element: std::int64_t, double or std::string (of fixed or variable length; it ends
  // before its first NUL).
  template <class T>
  T value() const;

 private:
  friend class Hdf5File;
  struct State;
  explicit Hdf5Dataset(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace weft
