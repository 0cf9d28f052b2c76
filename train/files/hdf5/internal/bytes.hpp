// Reading the bytes of an HDF5 file, with errors that name the location, and verifying checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/autograd/error.hpp"
#include "train/files/internal/random_access_file.hpp"

namespace weft::hdf5 {

// Location: a file and an object in it, as error messages name them.

// "model.h5" /encoder/0/weight. The file itself when `object` is empty.
struct Location {
  const std::filesystem::path& file;
  std::string_view object = {};

  std::string text() const;
  // Returns the text, truncated if long.
  static std::string shortened(std::string_view text);
};

// Throws FileError with the message "location: expected …, got …".
template <class Expected, class Got>
[[noreturn]] void fail_at(const Location& location, const Expected& expected, const Got& got) {
  fail<FileError>(location.text(), expected, got);
}

// An error in a file, "expected …, got …", thrown by functions that do not know which object they
// read. `at` adds the location.
class StructureError : public FileError {
 public:
  using FileError::FileError;
};

template <class Expected, class Got>
[[noreturn]] void fail_structure(const Expected& expected, const Got& got) {
  throw StructureError(str_cat("expected ", expected, ", got ", got));
}
// Throws StructureError for an inconsistent file; `what` names the damaged part.
[[noreturn]] void fail_with_damage(std::string_view what);
// Throws StructureError for a valid but unsupported format, which no current program writes for
// weights.
[[noreturn]] void fail_unsupported(std::string_view what);

// Returns `function()`. If it throws StructureError, throws FileError with the location.
template <class Function>
auto at(const Location& location, const Function& function) {
  try {
    return function();
  } catch (const StructureError& error) {
    throw FileError(str_cat(location.text(), ": ", error.what()));
  }
}

// Cursor: reads numbers and names from bytes, never past their end.

using Bytes = std::span<const std::byte>;

// Returns an unsigned little-endian integer of at most 8 bytes.
std::uint64_t little_endian(Bytes bytes);

// All functions throw StructureError if there are fewer bytes than they need.
class Cursor {
 public:
  // Reads bytes that outlive the object, or that it shares with its copies.
  explicit Cursor(Bytes bytes) : rest_(bytes) {}
  explicit Cursor(std::vector<std::byte>&& bytes)
      : owned_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))), rest_(*owned_) {}

  // Returns the next `size` bytes, and skips them. They are valid as long as a copy of this object.
  Bytes take(std::uint64_t size);
  void skip(std::uint64_t size) { take(size); }
  // Returns a cursor over the next bytes, and skips them.
  Cursor part(std::uint64_t size);
  // Reads an unsigned integer of 1 to 8 bytes.
  std::uint64_t number(std::size_t size) { return little_endian(take(size)); }
  unsigned byte() { return static_cast<unsigned>(number(1)); }
  unsigned short_number() { return static_cast<unsigned>(number(2)); }
  std::uint64_t address() { return number(8); }
  // Read a string that ends with a zero byte, and a string of a given size.
  std::string_view text();
  std::string_view text(std::uint64_t size);
  // Throws unless the next bytes are the signature.
  void expect(std::string_view signature);

  // Returns the bytes not read yet.
  Bytes rest() const { return rest_; }

 private:
  std::shared_ptr<const std::vector<std::byte>> owned_;
  Bytes rest_;
};

// The checksums of HDF5's newer structures.

inline constexpr std::size_t checksum_size = 4;

// Returns Bob Jenkins's hash lookup3 (2006): his function hashlittle, with the initial value 0.
std::uint32_t lookup3(Bytes bytes);

// Throws StructureError unless the checksum matches the bytes.
void check_checksum(std::uint64_t checksum, Bytes bytes);

// Returns the bytes before the checksum at the end of a structure. Throws StructureError unless the
// checksum matches them.
Bytes without_checksum(Bytes structure);

// SourceFile: the bytes of an HDF5 file that is open for reading.

// Addresses count from the superblock, the first bytes of the HDF5 file; other data may precede it.
using Address = std::uint64_t;
inline constexpr Address undefined_address = ~Address{0};

enum class Checksum { optional, required };

// Functions throw StructureError. May be used on several threads.
class SourceFile {
 public:
  // Opens a file. Throws unless it is a complete HDF5 file that no other process is writing, if the
  // checksum in its last line is wrong, and if a required checksum is missing.
  SourceFile(const std::filesystem::path& path, Checksum checksum);
  // Opens a file in memory. `path` is its name in messages.
  SourceFile(const std::filesystem::path& path, std::string contents);

  const std::filesystem::path& path() const { return path_; }
  // Returns the root group.
  Address root() const { return root_; }
  std::uint64_t size() const { return end_ - base_; }
  // Returns the number of bytes from an address to the end of the file; 0 for addresses past the
  // end and in the superblock.
  std::uint64_t bytes_from(Address address) const;
  // Reads bytes. Throws if the file does not contain them or they cannot be read.
  void read(Address address, std::span<std::byte> bytes) const;

 private:
  void read_superblock();
  void check_last_line(Checksum checksum) const;

  std::filesystem::path path_;
  RandomAccessFile bytes_;
  std::uint64_t base_ = 0;  // position of the superblock
  std::uint64_t end_ = 0;   // counted from the start of all data
  Address root_ = 0;
};

// Metadata: reads a file's structures, with a limit on how much one operation reads.

// An operation opens an object or lists groups. A structure that refers to itself, or that is
// referred to many times, soon reaches the limit, so no other code needs to detect cycles.
class Metadata {
 public:
  explicit Metadata(const SourceFile& file);

  const SourceFile& file() const { return file_; }
  // Returns the bytes after the signature of a structure. Throws StructureError for a different
  // signature, past the limit, and if reading fails.
  Cursor read(Address address, std::uint64_t size, std::string_view signature = {});
  // Returns the bytes between the signature and the checksum of a structure. Also throws if the
  // checksum does not match.
  Cursor read_checked(Address address, std::uint64_t size, std::string_view signature);

 private:
  const SourceFile& file_;
  std::uint64_t limit_ = 0;
  std::uint64_t left_ = 0;
};

}  // namespace weft::hdf5
