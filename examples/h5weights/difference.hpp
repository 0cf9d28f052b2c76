// Difference: the largest difference between two datasets.
#pragma once

#include <weft/train/files/stored_dataset.hpp>

namespace weft::h5weights {

struct Difference {
  // The largest |a - b|, and the position of its first occurrence. The difference between a NaN and
  // a number is infinite; two NaNs are equal.
  double absolute = 0.0;
  Index position = 0;
  // The largest |a - b| / max(|a|, |b|).
  double relative = 0.0;
};

// Compares two datasets of the same shape: numbers of any types, or one string each. The difference
// of unequal strings is infinite. Throws FileError if a dataset cannot be read or has another type.
Difference difference_of(const StoredDataset& a, const StoredDataset& b);

}  // namespace weft::h5weights
