// Numbers: a dataset of numbers of any type, read in blocks of rows.
#pragma once

#include <optional>
#include <string>

#include <weft/train/files/stored_dataset.hpp>

namespace weft::h5weights {

// What can be done with a dataset, by its type. Wide integers are of 64 bits, or of 32 without a
// sign; those of them that fit into 32 bits with a sign can be read.
enum class Kind { floating, integer, wide_integer, text, other };

Kind kind_of(const std::string& type);

// The number of bytes of an element; nothing for a text and for types that are no numbers.
std::optional<Index> bytes_of_element(const std::string& type);

class Numbers {
 public:
  // A dataset of floating-point numbers or integers. Throws FileError as StoredDataset does.
  explicit Numbers(const StoredDataset& dataset);

  const Shape& shape() const { return shape_; }
  // The number of rows: 1 for a scalar.
  Index rows() const { return rows_; }
  // The number of rows that are at most 4 MiB as float64, and at least 1.
  Index rows_in_block() const;
  // The elements of rows first … last - 1. Throws FileError when they cannot be read.
  Tensor<double> read(Index first, Index last) const;

 private:
  const StoredDataset& dataset_;
  Kind kind_;
  Shape shape_;
  Index rows_;
};

}  // namespace weft::h5weights
