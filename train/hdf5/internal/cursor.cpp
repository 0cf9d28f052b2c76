#include "train/hdf5/internal/cursor.hpp"

#include <algorithm>
#include <cstring>

namespace weft::hdf5 {

std::uint64_t little_endian(Bytes bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    number = number << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return number;
}

Bytes Cursor::take(std::uint64_t size) {
  if (size > bytes_.size()) fail_with_damage(location_, "a structure that ends too early");
  const Bytes taken = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return taken;
}

std::string_view Cursor::text() {
  const auto end = std::ranges::find(bytes_, std::byte{0});
  if (end == bytes_.end()) fail_with_damage(location_, "a name without an end");
  const Bytes taken = take(static_cast<std::size_t>(end - bytes_.begin()));
  skip(1);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

void Cursor::expect(std::string_view signature) {
  const Bytes found = take(signature.size());
  if (std::memcmp(found.data(), signature.data(), signature.size()) != 0)
    fail_with_damage(location_, concatenate_text("no '", signature, "' where it should be"));
}

void fail_with_damage(const Location& location, std::string_view what) {
  fail_at(location, "an intact HDF5 file", what);
}

void fail_unsupported(const Location& location, std::string_view what) {
  fail_at(location, "a form of HDF5 that weft reads (h5repack converts to one)", what);
}

}  // namespace weft::hdf5
