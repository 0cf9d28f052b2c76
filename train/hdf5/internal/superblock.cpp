#include "train/hdf5/internal/superblock.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace weft::hdf5 {

std::optional<std::uint64_t> size_in_superblock(const FileBytes& file) {
  static_assert(std::endian::native == std::endian::little);
  std::array<std::byte, 56> start;
  if (!file.read(0, start)) return std::nullopt;
  constexpr char signature[] = "\x89HDF\r\n\x1a\n";
  if (std::memcmp(start.data(), signature, 8) != 0) return std::nullopt;

  // Where the sizes are in versions 0 and 1, and in later ones ("Format Signature and Superblock"
  // in the HDF5 File Format Specification).
  const auto version = std::to_integer<unsigned>(start[8]);
  const std::size_t address_size = version < 2 ? 13 : 9;
  const std::size_t end_of_file = version == 0 ? 40 : version == 1 ? 44 : 28;
  if (std::to_integer<unsigned>(start[address_size]) != sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t size;
  std::memcpy(&size, start.data() + end_of_file, sizeof size);
  return size;
}

}  // namespace weft::hdf5
