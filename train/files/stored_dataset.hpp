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

// An open dataset, whose elements are read on request, even after its file was deleted. Copies
// refer to the same dataset. Every function throws FileError, naming the file and the dataset, if
// it fails, and ValueError for a moved-from object.
//   const StoredDataset dataset = Hdf5File("model.h5").dataset("/model/weight");
//   const Tensor<float> weight = dataset.tensor<float>({5, 3});
class WEFT_API StoredDataset {
 public:
  // Returns the path in the file.
  const std::string& path() const;
  // Returns the file and the path, as in messages: "model.h5" /encoder/weight.
  std::string location() const;
  // Returns the element type: "float32", "big-endian float64", "int64", "bool", "string",
  // "compound", …
  std::string type() const;
  // Returns the shape. Throws for a null dataspace, and for more than Shape::max_rank axes.
  Shape shape() const;

  // Reads all elements. float and double are converted, and rounded if necessary, from
  // floating-point types of 16, 32 or 64 bits; std::int32_t from integers, which must be in range;
  // bool from h5py's bool. Throws for other types, and if some of the data are missing in the file.
  template <class T>
  Tensor<T> tensor() const;
  // Reads all elements of a dataset with an expected shape. If the shape differs, throws before
  // allocating memory.
  template <class T>
  Tensor<T> tensor(const Shape& expected) const;
  // Reads all elements of a dataset of bfloat16 with an expected shape, as a tensor of 16 bits per
  // element, see Tensor::of_bf16. Throws for other types, and the same exceptions as `tensor`.
  template <class T>
  Tensor<T> bf16_tensor(const Shape& expected) const;
  // Reads rows [first, last) of a dataset [n, …]. Other rows are not read, except for chunked data,
  // where whole chunks are read. Throws ValueError unless 0 ≤ first ≤ last ≤ n, and the same
  // exceptions as `tensor`.
  template <class T>
  Tensor<T> rows(Index first, Index last) const;
  // Reads the only element, as std::int64_t, double or std::string. A string of fixed or variable
  // length ends at its first NUL and may have at most Hdf5File::max_text_bytes.
  template <class T>
  T value() const;

  // Used by classes derived from TensorFile.
  explicit StoredDataset(std::shared_ptr<hdf5::DatasetSource> source);

 private:
  hdf5::DatasetSource& source() const;
  void check_shape(const Shape& expected) const;
  template <class T>
  Tensor<T> read(const Shape& rows, Index first, Index last) const;

  std::shared_ptr<hdf5::DatasetSource> source_;
};

}  // namespace weft
