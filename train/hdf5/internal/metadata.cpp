#include "train/hdf5/internal/metadata.hpp"

#include <algorithm>
#include <utility>

#include "train/hdf5/internal/checksum.hpp"

namespace weft::hdf5 {

SourceFile::SourceFile(std::filesystem::path path, OpenFile bytes, const Superblock& superblock)
    : path_(std::move(path)), bytes_(std::move(bytes)), superblock_(superblock) {}

std::uint64_t SourceFile::bytes_from(Address address) const {
  return min_superblock_size <= address && address < size() ? size() - address : 0;
}

void SourceFile::read(Address address, std::span<std::byte> bytes, const Location& location) const {
  if (bytes.empty()) return;
  if (bytes.size() > bytes_from(address)) fail_with_damage(location, "an address outside the file");
  if (!bytes_.read(superblock_.base + address, bytes))
    fail_at(location, "data that can be read", "an error, or a file that was cut short");
}

// In proportion to the file, of which every structure is read once or twice: short ones count more.
Metadata::Metadata(const SourceFile& file) : file_(file) {
  constexpr std::uint64_t lowest = 1 << 20, highest = 64 << 20;
  limit_ = left_ = std::clamp(16 * std::min(file.size(), highest), lowest, highest);
}

std::vector<std::byte> Metadata::read(Address address, std::uint64_t size,
                                      const Location& location) {
  constexpr std::uint64_t min_cost = 64;  // of the call
  const std::uint64_t cost = std::max(size, min_cost);
  if (cost > left_)
    fail_at(location, concatenate_text("at most ", limit_, " bytes of structure"), "more");
  left_ -= cost;
  if (size > file_.bytes_from(address)) fail_with_damage(location, "an address outside the file");
  std::vector<std::byte> bytes(size);
  file_.read(address, bytes, location);
  return bytes;
}

std::vector<std::byte> Metadata::read_checked(Address address, std::uint64_t size,
                                              const Location& location) {
  std::vector<std::byte> bytes = read(address, size, location);
  bytes.resize(without_checksum(bytes, location).size());
  return bytes;
}

std::vector<std::byte> Metadata::read_up_to(Address address, std::uint64_t size,
                                            const Location& location) {
  return read(address, std::min(size, file_.bytes_from(address)), location);
}

}  // namespace weft::hdf5
