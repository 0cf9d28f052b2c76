// StoredDataset: one dataset of a TensorFile.
#pragma once

#include <memory>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tensor.hpp"

namespace weft {

namespace hdf5 {
class DatasetSource;
}  // namespace hdf5

// An open dataset, read on request, also after its file is gone. Every error is a FileError
// that names the file and the dataset, but for the ValueError of one that was moved from. Copies
// are the same dataset.
//   const StoredDataset dataset = Hdf5File("model.h5").dataset("/model/weight");
//   const Tensor<float> weight = dataset.tensor<float>({5, 3});
class WEFT_API StoredDataset {
 public:
  // The path in the file.
  const std::string& path() const;
  // The file and the path as messages name them: "model.h5" /encoder/weight.
  std::string location() const;
  // The element type: "float32", "big-endian float64", "int64", "bool", "string", "compound", …
  std::string type() const;
  // Throws for a null dataspace, or one of more than Shape::max_rank axes.
  Shape shape() const;

  // Reads the elements, of `shape()`. float and double are converted from floating-point types of
  // 16, 32 and 64 bits, rounded if necessary; std::int32_t from integers, which must be in range;
  // bool from h5py's bool. Throws for other types, and when not all of the data are stored in the
  // file.
  template <class T>
  Tensor<T> tensor() const;
  // The same for an expected shape; throws for any other one before allocating memory.
  template <class T>
  Tensor<T> tensor(const Shape& expected) const;
  // Rows first … last - 1 of a dataset [n, …], without reading the others (but, where the data are
  // chunked, the whole chunks that they are in). Throws as `tensor` does, and ValueError unless
  // 0 ≤ first ≤ last ≤ n.
  template <class T>
  Tensor<T> rows(Index first, Index last) const;
  // Reads the only element: std::int64_t, double or std::string (of fixed or variable length, up to
  // its first NUL; at most Hdf5File::max_text_bytes).
  template <class T>
  T value() const;

  // For files.
  explicit StoredDataset(std::shared_ptr<hdf5::DatasetSource> source);

 private:
  hdf5::DatasetSource& source() const;
  template <class T>
  Tensor<T> read(const Shape& rows, Index first, Index last) const;

  std::shared_ptr<hdf5::DatasetSource> source_;
};

}  // namespace weft
