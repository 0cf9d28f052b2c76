#include "train/files/hdf5/internal/metadata.hpp"

#include <algorithm>

#include "train/files/hdf5/internal/checksum.hpp"

namespace weft::hdf5 {

// In proportion to the file, of which every structure is read once or twice: short ones count more.
Metadata::Metadata(const SourceFile& file) : file_(file) {
  constexpr std::uint64_t lowest = 1 << 20, highest = 64 << 20;
  limit_ = left_ = std::clamp(16 * std::min(file.size(), highest), lowest, highest);
}

Cursor Metadata::read(Address address, std::uint64_t size, std::string_view signature) {
  constexpr std::uint64_t min_cost = 64;  // of the call
  const std::uint64_t cost = std::max(size, min_cost);
  if (cost > left_)
    fail_structure(concatenate_text("at most ", limit_, " bytes of structure"), "more");
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
