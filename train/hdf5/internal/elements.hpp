// Converts elements as they are in a file to numbers, strings and booleans.
#pragma once

#include <string>

#include "weft/autograd/shape.hpp"
#include "train/hdf5/internal/element_type.hpp"
#include "train/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

// Throws FileError unless elements of the type can be converted to T: floating-point types of 16,
// 32 and 64 bits to float and double, integers to std::int32_t and std::int64_t, bool to bool.
template <class T>
void check_convertible(const ElementType& type, const Location& location);

// Converts elements, of which the first is the one of index `first` in a tensor of `shape`: errors
// name the position. Throws FileError for an integer that T cannot represent.
template <class T>
void convert_elements(const ElementType& type, Bytes elements, T* out, const Shape& shape,
                      Index first, const Location& location);

// Converts the only element of `shape`. T: double, std::int64_t, std::string (also one that is
// elsewhere in the file).
template <class T>
T convert_value(Metadata& metadata, const ElementType& type, const Shape& shape, Bytes element,
                const Location& location);

}  // namespace weft::hdf5
