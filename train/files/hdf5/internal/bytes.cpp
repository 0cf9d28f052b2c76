#include "train/files/hdf5/internal/bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "train/files/internal/checksummed_file.hpp"
#include "train/files/internal/file_descriptor.hpp"

// "Disk Format: Level 0A - Format Signature and Superblock" in the HDF5 File Format Specification.

namespace weft::hdf5 {

std::string Location::text() const {
  return object.empty() ? quoted(file) : quoted(file) + ' ' + shortened(object);
}

std::string Location::shortened(std::string_view text) {
  constexpr std::size_t max_bytes = 500;
  return std::string(text.substr(0, max_bytes)) + (text.size() > max_bytes ? "…" : "");
}

void fail_with_damage(std::string_view what) { fail_structure("an intact HDF5 file", what); }

void fail_unsupported(std::string_view what) {
  fail_structure("HDF5 that weft can read (h5repack may convert the file)", what);
}

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return number;
}

Bytes Cursor::take(std::uint64_t size) {
  if (size > rest_.size()) fail_with_damage("a structure that ends too early");
  const Bytes taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

Cursor Cursor::part(std::uint64_t size) {
  Cursor part(*this);
  part.rest_ = take(size);
  return part;
}

std::string_view Cursor::text() {
  const auto end = std::ranges::find(rest_, std::byte{0});
  if (end == rest_.end()) fail_with_damage("an unterminated name");
  const std::string_view found = text(static_cast<std::size_t>(end - rest_.begin()));
  skip(1);
  return found;
}

std::string_view Cursor::text(std::uint64_t size) {
  const Bytes taken = take(size);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

void Cursor::expect(std::string_view signature) {
  if (text(signature.size()) != signature)
    fail_with_damage(str_cat("no signature '", signature, "'"));
}

namespace {

// Numbers are copied from the bytes of the file, which are little-endian.
static_assert(std::endian::native == std::endian::little);

using Words = std::array<std::uint32_t, 3>;

void mix(Words& words) {
  auto& [a, b, c] = words;
  a = (a - c) ^ std::rotl(c, 4), c += b;
  b = (b - a) ^ std::rotl(a, 6), a += c;
  c = (c - b) ^ std::rotl(b, 8), b += a;
  a = (a - c) ^ std::rotl(c, 16), c += b;
  b = (b - a) ^ std::rotl(a, 19), a += c;
  c = (c - b) ^ std::rotl(b, 4), b += a;
}

void mix_last(Words& words) {
  auto& [a, b, c] = words;
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  c = (c ^ b) - std::rotl(b, 24);
}

}  // namespace

std::uint32_t lookup3(Bytes bytes) {
  Words words;
  words.fill(0xDEADBEEF + static_cast<std::uint32_t>(bytes.size()));
  while (!bytes.empty()) {
    Words block{};  // zeros after the last byte
    const std::size_t size = std::min(bytes.size(), sizeof block);
    std::memcpy(block.data(), bytes.data(), size);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += block[i];
    bytes = bytes.subspan(size);
    bytes.empty() ? mix_last(words) : mix(words);
  }
  return words[2];
}

void check_checksum(std::uint64_t checksum, Bytes bytes) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  constexpr bool is_checked = false;  // lets clang's fuzzer mutate checksummed structures
#else
  constexpr bool is_checked = true;
#endif
  if (is_checked && checksum != lookup3(bytes))
    fail_with_damage("a structure with a wrong checksum");
}

Bytes without_checksum(Bytes structure) {
  Cursor cursor(structure);
  const Bytes contents = cursor.take(structure.size() - std::min(checksum_size, structure.size()));
  check_checksum(cursor.number(checksum_size), contents);
  return contents;
}

namespace {

constexpr std::string_view file_signature = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t min_superblock_size = 48;  // the smallest of all versions

// Returns the position of the signature: 0, or 512 times a power of two.
std::optional<std::uint64_t> find_signature(const RandomAccessFile& file) {
  for (std::uint64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    std::array<char, file_signature.size()> found;
    if (!file.read(at, std::as_writable_bytes(std::span(found)))) break;
    if (std::ranges::equal(found, file_signature)) return at;
  }
  return std::nullopt;
}

void check_sizes(Cursor& cursor) {
  const unsigned offsets = cursor.byte(), lengths = cursor.byte();
  if (offsets != 8 || lengths != 8) fail_unsupported("addresses that do not have 64 bits");
}

}  // namespace

SourceFile::SourceFile(const std::filesystem::path& path, Checksum checksum)
    : path_(path), bytes_(path) {
  if (bytes_.size() == 0) fail_structure("an HDF5 file", "an empty file");
  if (!bytes_.descriptor().lock_shared())
    fail_structure("a complete file", "a file that another process is writing");
  read_superblock();
  check_last_line(checksum);
}

SourceFile::SourceFile(const std::filesystem::path& path, std::string contents)
    : path_(path), bytes_(RandomAccessFile::in_memory(std::move(contents))) {
  read_superblock();
  check_last_line(Checksum::optional);
}

void SourceFile::read_superblock() {
  const std::optional<std::uint64_t> start = find_signature(bytes_);
  if (!start) {
    const std::string content = known_content(bytes_);
    fail_structure("an HDF5 file", content.empty() ? "other data" : content);
  }
  constexpr std::uint64_t max_size = 88;  // the size in version 1
  std::vector<std::byte> bytes(std::min(max_size, bytes_.size() - *start));
  if (!bytes_.read(*start, bytes)) fail_structure("a file that can be read", "a read error");
  Cursor cursor{Bytes(bytes)};
  cursor.skip(file_signature.size());
  const unsigned version = cursor.byte();
  if (version > 3)
    fail_structure("an HDF5 file with a superblock of version 0 to 3",
                   str_cat("version ", version));
  const bool is_old = version <= 1;
  if (is_old) cursor.skip(4);
  check_sizes(cursor);
  if (is_old)
    cursor.skip(version == 0 ? 9 : 13);
  else if (const unsigned flags = cursor.byte(); version == 3 && (flags & 1) != 0)
    fail_structure("a complete file", "a file that a program is writing or did not close");
  base_ = cursor.address();
  cursor.skip(8);
  end_ = cursor.address();
  if (is_old) cursor.skip(16);
  root_ = cursor.address();
  if (!is_old) without_checksum(Cursor(Bytes(bytes)).take(min_superblock_size));
  if (base_ != *start) fail_with_damage("an unsupported base address");
  if (end_ < base_) fail_with_damage("an end before the start");
  if (end_ > bytes_.size())
    fail_structure(str_cat("a complete HDF5 file of ", end_, " bytes"),
                   str_cat(bytes_.size(), " bytes"));
}

void SourceFile::check_last_line(Checksum checksum) const {
  const std::uint64_t after_data = bytes_.size() - end_;
  // Checks the size first, because computing the checksum takes time proportional to it.
  if (after_data != checksum_line_size && has_checksum_line(bytes_))
    fail_structure(str_cat("an HDF5 file of ", bytes_.size() - checksum_line_size,
                           " bytes before the checksum line"),
                   str_cat(end_, " bytes"));
  std::string line(std::min<std::uint64_t>(after_data, checksum_line_size), '\0');
  if (!bytes_.read(end_, std::as_writable_bytes(std::span(line))))
    fail_structure("a file that can be read", "a read error");
  // Programs may leave other bytes after the data.
  if (!line.empty() && is_like_checksum_line(line))
    verify_checksum_line(bytes_, path_);
  else if (checksum == Checksum::required)
    fail_structure("a file written by weft, with a checksum in the last line",
                   "no checksum (truncated, or written by another program)");
}

std::uint64_t SourceFile::bytes_from(Address address) const {
  return min_superblock_size <= address && address < size() ? size() - address : 0;
}

void SourceFile::read(Address address, std::span<std::byte> bytes) const {
  if (bytes.empty()) return;
  if (bytes.size() > bytes_from(address)) fail_with_damage("an address outside the file");
  if (!bytes_.read(base_ + address, bytes))
    fail_structure("data that can be read", "a read error or a truncated file");
}

// The limit is proportional to the size of the file: every structure is read once or twice, and
// short structures count more than their size.
Metadata::Metadata(const SourceFile& file) : file_(file) {
  constexpr std::uint64_t lowest = 1 << 20, highest = 64 << 20;
  limit_ = left_ = std::clamp(16 * std::min(file.size(), highest), lowest, highest);
}

Cursor Metadata::read(Address address, std::uint64_t size, std::string_view signature) {
  constexpr std::uint64_t min_cost = 64;  // the cost of a call
  const std::uint64_t cost = std::max(size, min_cost);
  if (cost > left_) fail_structure(str_cat("at most ", limit_, " bytes of structure"), "more");
  left_ -= cost;
  if (size > file_.bytes_from(address)) fail_with_damage("an address outside the file");
  std::vector<std::byte> bytes(size);
  file_.read(address, bytes);
  Cursor cursor(std::move(bytes));
  cursor.expect(signature);
  return cursor;
}

Cursor Metadata::read_checked(Address address, std::uint64_t size, std::string_view signature) {
  Cursor bytes = read(address, size);
  Cursor contents = bytes.part(without_checksum(bytes.rest()).size());
  contents.expect(signature);
  return contents;
}

}  // namespace weft::hdf5
