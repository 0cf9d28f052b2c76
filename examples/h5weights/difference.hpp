// Difference: how far the numbers of two datasets are apart.
#pragma once

#include <weft/train/files/stored_dataset.hpp>

namespace weft::h5weights {

struct Difference {
  // The largest |a - b|, and the position of the first one. A NaN differs infinitely from
  // everything but a NaN.
  double absolute = 0.0;
  Index position = 0;
  // The largest |a - b| / max(|a|, |b|).
  double relative = 0.0;
};

// Of two datasets of the same shape, of any types of numbers, or of one text each, which differ
// infinitely when they differ. Throws FileError when one cannot be read, and for other types.
Difference difference_of(const StoredDataset& a, const StoredDataset& b);

}  // namespace weft::h5weights
