// The arrays that newer HDF5 files have as indexes of chunks.
#pragma once

#include <cstdint>
#include <functional>

#include "train/files/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

// Takes an entry by its index in the array.
using EntryVisitor = std::function<void(std::uint64_t index, Cursor entry)>;

// Call `visit` with the entries that were written, and others. Throw StructureError for a damaged
// array.
void visit_fixed_array(Metadata& metadata, Address array, const EntryVisitor& visit);
void visit_extensible_array(Metadata& metadata, Address array, const EntryVisitor& visit);

}  // namespace weft::hdf5
