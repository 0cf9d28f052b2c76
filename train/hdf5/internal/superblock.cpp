#include "train/hdf5/internal/superblock.hpp"

#include <array>
#include <cstring>

#include "train/hdf5/internal/checksum.hpp"

// "Disk Format: Level 0A - Format Signature and Superblock" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

constexpr char signature[] = "\x89HDF\r\n\x1a\n";
constexpr std::size_t signature_size = sizeof signature - 1;

// The position of the signature: 0, or 512 times a power of two.
std::optional<std::uint64_t> find_signature(const OpenFile& file) {
  for (std::uint64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    std::array<std::byte, signature_size> found;
    if (!file.read(at, found)) return std::nullopt;
    if (std::memcmp(found.data(), signature, signature_size) == 0) return at;
  }
  return std::nullopt;
}

void check_sizes(unsigned offsets, unsigned lengths, const Location& location) {
  if (offsets != 8 || lengths != 8) fail_unsupported(location, "addresses of other than 64 bits");
}

Superblock parse(Bytes bytes, const Location& location) {
  Cursor cursor(bytes, location);
  cursor.skip(signature_size);
  Superblock superblock{};
  const unsigned version = cursor.byte();
  if (version <= 1) {
    cursor.skip(4);
    const unsigned offsets = cursor.byte();
    check_sizes(offsets, cursor.byte(), location);
    cursor.skip(version == 0 ? 9 : 13);
    superblock.base = cursor.address();
    cursor.skip(8);
    superblock.end = cursor.address();
    cursor.skip(16);
    superblock.root = cursor.address();
  } else if (version <= 3) {
    const unsigned offsets = cursor.byte();
    check_sizes(offsets, cursor.byte(), location);
    if (const unsigned flags = cursor.byte(); version == 3 && (flags & 1) != 0)
      fail_at(location, "a complete file", "one that a program is writing, or did not close");
    superblock.base = cursor.address();
    cursor.skip(8);
    superblock.end = cursor.address();
    superblock.root = cursor.address();
    without_checksum(Cursor(bytes, location).take(min_superblock_size), location);
  } else {
    fail_at(location, "an HDF5 file with a superblock of version 0 to 3",
            concatenate_text("version ", version));
  }
  return superblock;
}

}  // namespace

std::optional<Superblock> read_superblock(const OpenFile& file, const Location& location) {
  const std::optional<std::uint64_t> start = find_signature(file);
  if (!start) return std::nullopt;
  std::array<std::byte, 88> bytes{};  // the longest, of version 1
  const std::uint64_t stored = std::min<std::uint64_t>(bytes.size(), file.size() - *start);
  const Bytes read = Bytes(bytes).first(stored);
  if (!file.read(*start, std::span(bytes).first(stored)))
    fail_at(location, "a file that can be read", "an error of the disk");
  Superblock superblock = parse(read, location);
  if (superblock.base != *start) fail_with_damage(location, "another base address");
  if (superblock.end < superblock.base) fail_with_damage(location, "an end before the start");
  if (superblock.end > file.size())
    fail_at(location, concatenate_text("a complete HDF5 file of ", superblock.end, " bytes"),
            concatenate_text(file.size(), " bytes"));
  return superblock;
}

}  // namespace weft::hdf5
