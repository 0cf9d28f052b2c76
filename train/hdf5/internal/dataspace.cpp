#include "train/hdf5/internal/dataspace.hpp"

#include <array>
#include <limits>

// "The Dataspace Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {

Shape read_shape(Bytes message, const Location& location) {
  constexpr unsigned null_dataspace = 2;
  Cursor cursor(message, location);
  const unsigned version = cursor.byte();
  if (version != 1 && version != 2) fail_with_damage(location, "an unknown dataspace");
  const unsigned rank = cursor.byte();
  cursor.skip(1);
  if (version == 1)
    cursor.skip(5);
  else if (cursor.byte() == null_dataspace)
    fail_at(location, "elements", "a null dataspace");
  if (rank > Shape::max_rank)
    fail_at(location, concatenate_text("at most ", Shape::max_rank, " axes"), rank);
  std::array<Index, Shape::max_rank> sizes{};
  try {
    for (unsigned axis = 0; axis < rank; ++axis) {
      const std::uint64_t size = cursor.number(8);
      if (size > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
        fail<ShapeError>("shape", "sizes below 2^63", size);
      sizes[axis] = static_cast<Index>(size);
    }
    return Shape(std::span<const Index>(sizes.data(), rank));
  } catch (const ShapeError& error) {
    throw FileError(concatenate_text(location.text(), ": ", error.what()));
  }
}

}  // namespace weft::hdf5
