#include "train/files/hdf5/internal/source_file.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "train/files/hdf5/internal/checksum.hpp"
#include "train/files/internal/sealed_file.hpp"

// "Disk Format: Level 0A - Format Signature and Superblock" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t min_superblock_size = 48;  // of all versions

// The position of the signature: 0, or 512 times a power of two.
std::optional<std::uint64_t> find_signature(const OpenFile& file) {
  for (std::uint64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    std::array<char, signature.size()> found;
    if (!file.read(at, std::as_writable_bytes(std::span(found)))) break;
    if (std::ranges::equal(found, signature)) return at;
  }
  return std::nullopt;
}

void check_sizes(Cursor& cursor) {
  const unsigned offsets = cursor.byte(), lengths = cursor.byte();
  if (offsets != 8 || lengths != 8) fail_unsupported("addresses of other than 64 bits");
}

}  // namespace

SourceFile::SourceFile(const std::filesystem::path& path, Checksum checksum)
    : path_(path), bytes_(path) {
  if (bytes_.size() == 0) fail_structure("an HDF5 file", "an empty file");
  if (!bytes_.descriptor().lock_shared())
    fail_structure("a complete file", "one that another process is writing");
  read_superblock();
  check_last_line(checksum);
}

void SourceFile::read_superblock() {
  const std::optional<std::uint64_t> start = find_signature(bytes_);
  if (!start) fail_structure("an HDF5 file", "other data");
  constexpr std::uint64_t max_size = 88;  // of version 1
  std::vector<std::byte> bytes(std::min(max_size, bytes_.size() - *start));
  if (!bytes_.read(*start, bytes))
    fail_structure("a file that can be read", "an error of the disk");
  Cursor cursor{Bytes(bytes)};
  cursor.skip(signature.size());
  const unsigned version = cursor.byte();
  if (version > 3)
    fail_structure("an HDF5 file with a superblock of version 0 to 3",
                   concatenate_text("version ", version));
  const bool is_old = version <= 1;
  if (is_old) cursor.skip(4);
  check_sizes(cursor);
  if (is_old)
    cursor.skip(version == 0 ? 9 : 13);
  else if (const unsigned flags = cursor.byte(); version == 3 && (flags & 1) != 0)
    fail_structure("a complete file", "one that a program is writing, or did not close");
  base_ = cursor.address();
  cursor.skip(8);
  end_ = cursor.address();
  if (is_old) cursor.skip(16);
  root_ = cursor.address();
  if (!is_old) without_checksum(Cursor(Bytes(bytes)).take(min_superblock_size));
  if (base_ != *start) fail_with_damage("another base address");
  if (end_ < base_) fail_with_damage("an end before the start");
  if (end_ > bytes_.size())
    fail_structure(concatenate_text("a complete HDF5 file of ", end_, " bytes"),
                   concatenate_text(bytes_.size(), " bytes"));
}

void SourceFile::check_last_line(Checksum checksum) const {
  const std::uint64_t after_data = bytes_.size() - end_;
  // The checksum takes time in proportion to the size of the file, which should be that of its
  // data.
  if (after_data != checksum_line_size && has_checksum_line(bytes_))
    fail_structure(concatenate_text("an HDF5 file of ", bytes_.size() - checksum_line_size,
                                    " bytes before the checksum line"),
                   concatenate_text("one of ", end_));
  std::string line(std::min<std::uint64_t>(after_data, checksum_line_size), '\0');
  if (!bytes_.read(end_, std::as_writable_bytes(std::span(line))))
    fail_structure("a file that can be read", "an error of the disk");
  // Programs may leave other bytes after the data.
  if (!line.empty() && is_like_checksum_line(line))
    verify_checksum_line(bytes_, path_);
  else if (checksum == Checksum::required)
    fail_structure("a file of weft with its checksum in the last line",
                   "one without (truncated, or written by another program)");
}

std::uint64_t SourceFile::bytes_from(Address address) const {
  return min_superblock_size <= address && address < size() ? size() - address : 0;
}

void SourceFile::read(Address address, std::span<std::byte> bytes) const {
  if (bytes.empty()) return;
  if (bytes.size() > bytes_from(address)) fail_with_damage("an address outside the file");
  if (!bytes_.read(base_ + address, bytes))
    fail_structure("data that can be read", "an error, or a file that was cut short");
}

}  // namespace weft::hdf5
