// StoredForm: how the elements of a parameter are in a dataset.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/autograd/tensor.hpp"
#include "weft/train/files/stored_dataset.hpp"

namespace weft {

// Returns whether StoredDataset::type names floating-point numbers that weights are read from.
bool is_float(const std::string& type);

struct StoredForm {
  Shape parameter;
  // Whether the dataset has the columns of the parameter, a matrix, as rows.
  bool is_transposed = false;
  // Whether the dataset may have several axes where the parameter has one.
  bool splits_axes = false;
  // The dataset has so many equal parts of its rows, or of its columns when it is transposed, and
  // the parameter is these of them, one after the other.
  Index parts = 1;
  std::vector<Index> own = {0};
  // Whether the dataset may be only the first part, the others being zeros.
  bool may_be_zero = false;

  // The shape of the dataset, but for axes that are split.
  Shape dataset() const;
  // The number of elements of each part.
  Index part_size() const;
  // Returns whether a dataset of that shape is only the first part.
  bool is_first_part(const Shape& dataset) const {
    return may_be_zero && parts > 1 && dataset == parameter;
  }
  // Returns whether a dataset of that shape may have the elements.
  bool fits(const Shape& dataset) const;
};

// A parameter to be read from a dataset.
template <class T>
struct StoredTensor {
  StoredForm form;
  Tensor<T> value = {};
};

// Reads the values of all tensors in a dataset, of which the forms fit its shape: once, and but for
// a tensor that is the whole dataset in blocks of rows of a few MiB. Throws FileError when it
// cannot be read, and NonFiniteError for a NaN or an infinity.
template <class T>
void read_stored(const StoredDataset& dataset, std::span<StoredTensor<T>> tensors);

// Returns whether a dataset of that form has these values. Throws as `read_stored` does.
template <class T>
bool has_values(const StoredDataset& dataset, const StoredForm& form, const Tensor<T>& values);

// The dataset of these parts, in their order.
template <class T>
Tensor<T> stored(std::span<const StoredTensor<T>> parts);

}  // namespace weft
