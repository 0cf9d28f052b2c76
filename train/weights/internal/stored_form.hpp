// StoredForm: how a dataset stores the elements of a parameter.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "weft/autograd/tensor.hpp"
#include "weft/train/files/stored_dataset.hpp"

namespace weft {

// Returns whether a type returned by StoredDataset::type is a floating-point type that weights can
// be read from.
bool is_float(const std::string& type);

// How a dataset stores a parameter.
struct StoredForm {
  Shape parameter;  // the shape of the parameter
  // Whether the dataset contains the transposed matrix.
  bool is_transposed = false;
  // Whether the dataset has the axes of the parameter in reverse order, as kernels of Keras's
  // Conv1D.
  bool is_reversed = false;
  // Whether the dataset may have several axes for one axis of the parameter.
  bool splits_axes = false;
  // The rows of the dataset (its columns, if it is transposed) consist of `parts` equal parts. The
  // parameter is the concatenation of the parts listed in `own`.
  Index parts = 1;
  std::vector<Index> own = {0};
  // Whether the dataset may consist of the first part only. The other parts are then zeros.
  bool may_be_zero = false;

  // Returns the shape of the dataset if no axis is split.
  Shape dataset() const;
  // Returns the number of elements of each part.
  Index part_size() const;
  // Returns whether a dataset of this shape consists of the first part only.
  bool is_first_part(const Shape& dataset) const {
    return may_be_zero && parts > 1 && dataset == parameter;
  }
  // Returns whether a dataset of this shape can contain the parameter.
  bool fits(const Shape& dataset) const;
};

// A parameter and how it is stored. `read_stored` sets the value.
template <class T>
struct StoredTensor {
  StoredForm form;
  Tensor<T> value = {};
};

// Reads the values of all tensors stored in a dataset, whose shape must fit each form. The dataset
// is read once, in blocks of rows of a few MiB; a tensor that is the whole dataset is read at once.
// Throws FileError if the dataset cannot be read, and NonFiniteError for a NaN or an infinity.
template <class T>
void read_stored(const StoredDataset& dataset, std::span<StoredTensor<T>> tensors);

// Returns whether a dataset with this form contains `values`. Throws the same exceptions as
// `read_stored`.
template <class T>
bool has_values(const StoredDataset& dataset, const StoredForm& form, const Tensor<T>& values);

// Returns the contents of the dataset that consists of these tensors, in their order.
template <class T>
Tensor<T> stored(std::span<const StoredTensor<T>> parts);

}  // namespace weft
