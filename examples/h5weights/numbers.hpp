// Numbers: a dataset of numbers of any type, read in blocks of rows.
#pragma once

#include <optional>
#include <string>

#include <weft/train/files/stored_dataset.hpp>

namespace weft::h5weights {

// Classes of dataset types. Wide integers are int64, uint64 and uint32; only values that fit into
// an int32 can be read as numbers.
enum class Kind { floating, integer, wide_integer, text, other };

Kind kind_of(const std::string& type);

// Returns the number of bytes of an element, or nullopt if the type is not numeric.
std::optional<Index> bytes_of_element(const std::string& type);

class Numbers {
 public:
  // Reads from a dataset of floating-point numbers or integers, which must outlive the object.
  // Throws FileError if the dataset cannot be read or a row is larger than 1 GiB as float64.
  explicit Numbers(const StoredDataset& dataset);

  const Shape& shape() const { return shape_; }
  // The number of rows: 1 for a scalar.
  Index rows() const { return rows_; }
  // The number of rows to read at a time: as many as fit into 4 MiB as float64, at least 1.
  Index rows_in_block() const;
  // Returns the elements of the rows [first, last). Throws FileError if they cannot be read.
  Tensor<double> read(Index first, Index last) const;

 private:
  const StoredDataset& dataset_;
  Kind kind_;
  Shape shape_;
  Index rows_;
};

}  // namespace weft::h5weights
