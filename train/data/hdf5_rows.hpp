// Hdf5Rows: the rows of a dataset, read when they are needed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "weft/autograd/export.hpp"
#include "weft/train/data/rows.hpp"
#include "weft/train/files/stored_dataset.hpp"

namespace weft {

// For windows of a text or a series that is larger than memory:
//   WindowBatches<TokenId> windows(std::make_shared<Hdf5Rows<TokenId>>("text.h5", "tokens"),
//                                  {.length = 256});
//
// Instances: float, double, TokenId. May be read on several threads.
template <class E>
class WEFT_API Hdf5Rows final : public Rows<E> {
 public:
  // The rows of a dataset [n, …] of a type that StoredDataset::tensor<E> reads. Throws FileError as
  // Hdf5File and StoredDataset do, and for a dataset without axes.
  Hdf5Rows(const std::filesystem::path& file, const std::string& dataset);

  const Shape& shape() const override { return shape_; }
  // Throws FileError when the elements cannot be read.
  Tensor<E> read(Index first, Index last) const override;
  // Of the shape and of the rows at 64 places.
  std::uint64_t fingerprint() const override;

 private:
  StoredDataset dataset_;
  Shape shape_;
};

}  // namespace weft
