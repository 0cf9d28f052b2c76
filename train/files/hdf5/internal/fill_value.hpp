// FillValue: what those elements of a dataset are that were never written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "train/files/hdf5/internal/object_header.hpp"

namespace weft::hdf5 {

class FillValue {
 public:
  // As a dataset's header says; zero when it says nothing. Throws StructureError for a damaged
  // message.
  explicit FillValue(const ObjectHeader& header);

  // Throws StructureError unless there is a value of `element_bytes`, for `elements` of them: a
  // small file must not take any amount of memory.
  void check(std::uint64_t elements, std::uint64_t element_bytes) const;
  // Sets whole elements to the value, after `check`.
  void fill(std::span<std::byte> elements) const;

 private:
  bool is_defined_ = true;
  std::vector<std::byte> value_;  // zero when empty
};

}  // namespace weft::hdf5
