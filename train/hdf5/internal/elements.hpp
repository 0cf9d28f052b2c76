// Reading the elements of datasets and attributes as numbers, texts and truth values.
#pragma once

#include <functional>
#include <string>

#include "weft/autograd/tensor.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

// The shape of a simple or scalar dataspace.
Shape shape_of(hid_t space, const Place& place);

// The elements of a dataset or attribute, not read yet.
struct Elements {
  const Place& place;
  Handle type;
  Shape shape;
  // H5Dread or H5Aread: all elements, as elements of a type in memory.
  std::function<herr_t(hid_t memory_type, void* data)> read;
};

// All elements, into memory for them. T: float, double, std::int32_t, std::int64_t, bool.
template <class T>
void read_elements(const Elements& elements, T* data);

// The only element. T: double, std::int64_t, std::string.
template <class T>
T read_value(const Elements& elements);

}  // namespace weft::hdf5
