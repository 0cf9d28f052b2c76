// Reads the elements of datasets and attributes as numbers, strings and booleans.
#pragma once

#include <functional>
#include <string>

#include "weft/autograd/tensor.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

// The shape of a simple or scalar dataspace.
Shape shape_of(hid_t space, const Location& location);

// The elements of a dataset or attribute, not read yet.
struct Elements {
  const Location& location;
  Handle type;
  Shape shape;
  // Calls H5Dread or H5Aread: reads all elements, converted to a type in memory.
  std::function<herr_t(hid_t memory_type, void* data)> read;
};

// Reads all elements into `data`. T: float, double, std::int32_t, std::int64_t, bool.
template <class T>
void read_elements(const Elements& elements, T* data);

// Reads the only element. T: double, std::int64_t, std::string.
template <class T>
T read_value(const Elements& elements);

}  // namespace weft::hdf5
