#include "train/hdf5/internal/elements.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/hdf5/internal/types.hpp"

namespace weft::hdf5 {
namespace {

std::size_t count_of(const Elements& elements) {
  return static_cast<std::size_t>(elements.shape.elements());
}

void read_as(const Elements& elements, hid_t memory_type, void* data) {
  checked(elements.read(memory_type, data), elements.location, "data that can be read");
}

// Throws unless `accept` returns true for the name of the type without its byte order.
template <class Accept>
void check_type(const Elements& elements, const char* expected, const Accept& accept) {
  const std::string name = type_name(elements.type);
  constexpr std::string_view big_endian = "big-endian ";
  if (!accept(name.starts_with(big_endian) ? std::string_view(name).substr(big_endian.size())
                                           : name))
    fail_at(elements.location, expected, name);
}

bool is_integer(std::string_view name) {
  return name.starts_with("int") || name.starts_with("uint");
}
bool is_float(std::string_view name) { return name.starts_with("float"); }

void read_integers(const Elements& elements, std::int64_t* data) {
  check_type(elements, "integers", is_integer);
  const bool is_signed = H5Tget_sign(elements.type) != H5T_SGN_NONE;
  read_as(elements, is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, data);
  if (is_signed) return;
  // Values above 2^63 - 1, read as unsigned, are negative here.
  for (std::size_t i = 0; i < count_of(elements); ++i)
    if (data[i] < 0)
      fail_at(elements.location, "integers below 2^63",
              concatenate_text(static_cast<std::uint64_t>(data[i]), " at ",
                               elements.shape.position(static_cast<Index>(i))));
}

void check_text_size(const Elements& elements, std::size_t bytes) {
  if (bytes > Hdf5File::max_text_bytes)
    fail_at(elements.location,
            concatenate_text("a string of at most ", Hdf5File::max_text_bytes, " bytes"),
            concatenate_text("one of ", bytes, " bytes"));
}

std::string read_string(const Elements& elements) {
  check_type(elements, "a string", [](std::string_view name) { return name == "string"; });
  const Handle memory_type = checked_handle(H5Tcopy(elements.type), elements.location, "a string");
  if (checked(H5Tis_variable_str(elements.type), elements.location, "a string") > 0) {
    char* text = nullptr;
    read_as(elements, memory_type, &text);
    const std::unique_ptr<char, herr_t (*)(void*)> owner(text, H5free_memory);
    const std::size_t length = text ? std::strlen(text) : 0;
    check_text_size(elements, length);
    return std::string(text ? text : "", length);
  }
  const std::size_t size = H5Tget_size(elements.type);
  check_text_size(elements, size);
  std::vector<char> text(size);
  read_as(elements, memory_type, text.data());
  return std::string(text.data(), ::strnlen(text.data(), size));
}

}  // namespace

Shape shape_of(hid_t space, const Location& location) {
  const H5S_class_t kind = H5Sget_simple_extent_type(space);
  if (kind == H5S_SCALAR) return {};
  if (kind != H5S_SIMPLE) fail_at(location, "elements", "a null dataspace");
  const int rank = checked(H5Sget_simple_extent_ndims(space), location, "a shape");
  if (rank > Shape::max_rank)
    fail_at(location, concatenate_text("at most ", Shape::max_rank, " axes"), rank);
  std::array<hsize_t, Shape::max_rank> sizes{};
  checked(H5Sget_simple_extent_dims(space, sizes.data(), nullptr), location, "a shape");
  try {
    std::array<Index, Shape::max_rank> axes{};
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (sizes[axis] > static_cast<hsize_t>(std::numeric_limits<Index>::max()))
        fail<ShapeError>("shape", "sizes below 2^63", sizes[axis]);
      axes[axis] = static_cast<Index>(sizes[axis]);
    }
    return Shape(std::span<const Index>(axes.data(), static_cast<std::size_t>(rank)));
  } catch (const ShapeError& error) {
    throw FileError(concatenate_text(location.text(), ": ", error.what()));
  }
}

template <class T>
void read_elements(const Elements& elements, T* data) {
  if (elements.shape.elements() == 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    check_type(elements, "floating-point numbers of 16, 32 or 64 bits", is_float);
    read_as(elements, std::is_same_v<T, float> ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, data);
  } else if constexpr (std::is_same_v<T, bool>) {
    check_type(elements, "bool, as written by h5py",
               [](std::string_view name) { return name == "bool"; });
    const std::unique_ptr<signed char[]> bytes(new signed char[count_of(elements)]);
    read_as(elements, elements.type, bytes.get());
    for (std::size_t i = 0; i < count_of(elements); ++i) data[i] = bytes[i] != 0;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    read_integers(elements, data);
  } else {
    std::vector<std::int64_t> wide(count_of(elements));
    read_integers(elements, wide.data());
    for (std::size_t i = 0; i < wide.size(); ++i) {
      if (!std::in_range<T>(wide[i]))
        fail_at(elements.location, concatenate_text("integers of ", 8 * sizeof(T), " bits"),
                concatenate_text(wide[i], " at ", elements.shape.position(static_cast<Index>(i))));
      data[i] = static_cast<T>(wide[i]);
    }
  }
}

template <class T>
T read_value(const Elements& elements) {
  if (elements.shape.elements() != 1)
    fail_at(elements.location, "one value", concatenate_text("shape ", elements.shape));
  if constexpr (std::is_same_v<T, std::string>) {
    return read_string(elements);
  } else {
    T value{};
    read_elements(elements, &value);
    return value;
  }
}

template void read_elements(const Elements&, float*);
template void read_elements(const Elements&, double*);
template void read_elements(const Elements&, std::int32_t*);
template void read_elements(const Elements&, bool*);
template double read_value(const Elements&);
template std::int64_t read_value(const Elements&);
template std::string read_value(const Elements&);

}  // namespace weft::hdf5
