#include "train/files/hdf5/internal/cursor.hpp"

#include <algorithm>

namespace weft::hdf5 {

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
  if (end == rest_.end()) fail_with_damage("a name without an end");
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
    fail_with_damage(concatenate_text("no '", signature, "' where it should be"));
}

}  // namespace weft::hdf5
