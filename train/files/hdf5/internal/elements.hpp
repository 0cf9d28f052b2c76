// Converts elements as they are in a file to numbers, strings and booleans, and back.
#pragma once

#include <functional>
#include <string>

#include "weft/autograd/tensor.hpp"
#include "weft/train/files/hdf5/hdf5_writer.hpp"
#include "train/files/hdf5/internal/element_type.hpp"
#include "train/files/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

// Throws StructureError unless elements of the type can be converted to T: floating-point types of
// 16, 32 and 64 bits to float and double, integers to std::int32_t and std::int64_t, bool to bool.
template <class T>
void check_convertible(const ElementType& type);

// Converts elements, of which the first is the one of index `first` in a tensor of `shape`: errors
// name the position. Throws StructureError as check_convertible does, and for an integer that T
// cannot represent.
template <class T>
void convert_elements(const ElementType& type, Bytes elements, T* out, const Shape& shape,
                      Index first);

// Converts the only element of `shape`. T: double, std::int64_t, std::string (also one that is
// elsewhere in the file).
template <class T>
T convert_value(Metadata& metadata, const ElementType& type, const Shape& shape, Bytes element);

// Calls `sink` with all elements of a tensor as they are stored in a file, a block at a time.
// Throws ValueError, naming the location, for a number that the type cannot represent.
template <class T>
void store_elements(const Tensor<T>& tensor, StorageType type, const Location& location,
                    const std::function<void(Bytes)>& sink);

}  // namespace weft::hdf5
