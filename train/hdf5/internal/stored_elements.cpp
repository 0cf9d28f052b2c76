#include "train/hdf5/internal/stored_elements.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>
#include <type_traits>

#include "train/files/half_precision.hpp"

namespace weft::hdf5 {
namespace {

// A floating-point type of 16 bits, which the library does not predefine.
Handle half_type(std::size_t exponent_bits, std::size_t mantissa_bits, std::size_t bias) {
  Handle type(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, bias);
  return type;
}

// To single precision with a last bit that says whether anything was lost, so that rounding once
// more gives what rounding once would have.
float to_odd(float value) { return value; }
float to_odd(double value) {
  const auto rounded = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(rounded);
  if (static_cast<double>(rounded) == value || !std::isfinite(rounded) || (bits & 1) != 0)
    return rounded;
  return std::bit_cast<float>(std::abs(static_cast<double>(rounded)) < std::abs(value) ? bits + 1
                                                                                       : bits - 1);
}

// Appends `convert(element)` for each element. `widen` returns a float or double of the result.
template <class T, class Convert, class Widen>
void write_converted(SealedFile& file, const Tensor<T>& tensor, const Location& location,
                     const char* name, const Convert& convert, const Widen& widen) {
  using Stored = decltype(convert(T{}));
  std::array<Stored, 4096> block;
  const std::span<const T> values = tensor.values();
  for (std::size_t begin = 0; begin < values.size(); begin += block.size()) {
    const std::size_t count = std::min(block.size(), values.size() - begin);
    for (std::size_t i = 0; i < count; ++i) {
      const T value = values[begin + i];
      block[i] = convert(value);
      if (std::isfinite(value) && !std::isfinite(widen(block[i])))
        fail<ValueError>(location.text(), concatenate_text("numbers in the range of ", name),
                         concatenate_text(value, " at ",
                                          tensor.shape().position(static_cast<Index>(begin + i))));
    }
    file.write(std::as_bytes(std::span(block).first(count)));
  }
}

template <class T>
void write_elements(SealedFile& file, const Tensor<T>& tensor, StorageType type,
                    const Location& location) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (type) {
      case StorageType::float16:
        return write_converted(
            file, tensor, location, "float16", [](T x) { return float16_of(to_odd(x)); },
            float_of_float16);
      case StorageType::bfloat16:
        return write_converted(
            file, tensor, location, "bfloat16", [](T x) { return bfloat16_of(to_odd(x)); },
            float_of_bfloat16);
      case StorageType::float32:
        if (std::is_same_v<T, float>) break;
        return write_converted(
            file, tensor, location, "float32", [](T x) { return static_cast<float>(x); },
            [](float x) { return x; });
      case StorageType::float64:
        if (std::is_same_v<T, double>) break;
        return write_converted(
            file, tensor, location, "float64", [](T x) { return static_cast<double>(x); },
            [](double x) { return x; });
      case StorageType::same:
        break;
    }
  }
  file.write(std::as_bytes(tensor.values()));
}

}  // namespace

Handle StoredElements::type() const {
  if (std::holds_alternative<Make<std::int32_t>>(make_)) return Handle(H5Tcopy(H5T_STD_I32LE));
  switch (type_) {
    case StorageType::float16:
      return half_type(5, 10, 15);
    case StorageType::bfloat16:
      return half_type(8, 7, 127);
    case StorageType::float32:
      return Handle(H5Tcopy(H5T_IEEE_F32LE));
    case StorageType::float64:
      return Handle(H5Tcopy(H5T_IEEE_F64LE));
    case StorageType::same:
      break;
  }
  const bool is_float = std::holds_alternative<Make<float>>(make_);
  return Handle(H5Tcopy(is_float ? H5T_IEEE_F32LE : H5T_IEEE_F64LE));
}

void StoredElements::write(SealedFile& file, const Location& location) const {
  std::visit(
      [&](const auto& make) {
        const auto tensor = make();
        if (tensor.shape() != shape_)
          fail<ShapeError>(location.text(), concatenate_text("a tensor of shape ", shape_),
                           tensor.shape());
        write_elements(file, tensor, type_, location);
      },
      make_);
}

}  // namespace weft::hdf5
