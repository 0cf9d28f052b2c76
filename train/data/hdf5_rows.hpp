// Hdf5Rows: the rows of an HDF5 dataset, read on demand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/train/data/rows.hpp"
#include "weft/train/files/stored_dataset.hpp"

namespace weft {

// The rows of an HDF5 dataset, read on demand: for windows of a text or time series that is larger
// than memory.
//   WindowBatches<TokenId> windows(std::make_shared<Hdf5Rows<TokenId>>("text.h5", "tokens"),
//                                  {.length = 256});
//
// Instances: float, double, TokenId. Several threads may call `read` at once.
template <class E>
class WEFT_API Hdf5Rows final : public Rows<E> {
 public:
  // Opens a dataset [n, …] whose type StoredDataset::tensor<E> can read. Throws FileError for a
  // dataset without axes, and the same exceptions as Hdf5File and StoredDataset.
  Hdf5Rows(const std::filesystem::path& file, const std::string& dataset);

  const Shape& shape() const override { return shape_; }
  // Throws FileError if the rows cannot be read.
  Tensor<E> read(Index first, Index last) const override;
  // Returns a hash of the shape and of about 64 rows, evenly spaced.
  std::uint64_t fingerprint() const override;

 private:
  StoredDataset dataset_;
  Shape shape_;
};

}  // namespace weft
