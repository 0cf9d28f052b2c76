// StoredElements: the elements of a tensor, and how a file stores them.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "weft/train/hdf5/hdf5_writer.hpp"
#include "train/files/sealed_file.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

class StoredElements {
 public:
  template <class T>
  StoredElements(const Shape& shape, std::function<Tensor<T>()> make, StorageType type)
      : shape_(shape), make_(std::move(make)), type_(type) {}

  const Shape& shape() const { return shape_; }
  // The type in the file. Call it under a LibraryLock.
  Handle type() const;
  // Makes the tensor and appends its elements. Throws ShapeError when it has another shape, and
  // ValueError for a number that the type cannot represent.
  void write(SealedFile& file, const Location& location) const;

 private:
  template <class T>
  using Make = std::function<Tensor<T>()>;

  Shape shape_;
  std::variant<Make<float>, Make<double>, Make<std::int32_t>> make_;
  StorageType type_;
};

}  // namespace weft::hdf5
