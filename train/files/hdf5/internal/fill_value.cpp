#include "train/files/hdf5/internal/fill_value.hpp"

#include <algorithm>

// "The Data Storage - Fill Value Message", the newer and the older one, in the HDF5 File Format
// Specification.
namespace weft::hdf5 {

FillValue::FillValue(const ObjectHeader& header) {
  constexpr unsigned never_filled = 1, undefined = 0x10, with_value = 0x20;
  bool has_value = true;
  const Message* message = header.find(MessageType::fill_value);
  const bool is_newer = message != nullptr;
  if (!is_newer) message = header.find(MessageType::older_fill_value);
  if (!message) return;
  Cursor contents = message->contents;
  if (message->shared) {
    is_defined_ = has_value = false;
  } else if (is_newer) {
    const unsigned version = contents.byte();
    if (version < 1 || version > 3) fail_with_damage("an unknown fill value");
    const unsigned flags = version == 3 ? contents.byte() : contents.short_number() >> 8 << 2;
    is_defined_ = (flags >> 2 & 3) != never_filled;
    has_value = version == 3 ? (flags & with_value) != 0 : contents.byte() != 0;
    is_defined_ &= version == 3 ? (flags & undefined) == 0 : has_value;
  }
  if (!has_value) return;
  const Bytes value = contents.take(contents.number(4));
  value_.assign(value.begin(), value.end());
}

void FillValue::check(std::uint64_t elements, std::uint64_t element_bytes) const {
  constexpr std::uint64_t max_bytes = 256 << 20;
  if (!is_defined_) fail_structure("data", "a dataset that was never written, or not all of it");
  if (elements > max_bytes / element_bytes)
    fail_structure(concatenate_text("at most ", max_bytes, " bytes that were never written"),
                   concatenate_text(elements, " elements of ", element_bytes, " bytes"));
  if (!value_.empty() && value_.size() != element_bytes)
    fail_with_damage("a fill value of another size");
}

void FillValue::fill(std::span<std::byte> elements) const {
  if (value_.empty())
    std::ranges::fill(elements, std::byte{0});
  else
    for (std::size_t at = 0; at < elements.size(); ++at) elements[at] = value_[at % value_.size()];
}

}  // namespace weft::hdf5
