// The indices of chunks: B-trees, fixed and extensible arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "train/files/hdf5/internal/bytes.hpp"

namespace weft::hdf5 {

// B-trees of version 1 and version 2.

// Version 1, used for the symbols of a group and the chunks of a dataset.
enum class TreeOf : unsigned { groups = 0, chunks = 1 };

// Calls `visit` with the key and the address of each child of the leaves below a node, in order.
// Throws StructureError for a damaged tree, or if `expected_level` is set and the node has a
// different level.
void visit_tree(Metadata& metadata, Address node, TreeOf kind, std::size_t key_size,
                const std::function<void(Cursor key, Address)>& visit,
                std::optional<unsigned> expected_level = {});

// Version 2, used for the chunks of a dataset, and for the links and attributes of large groups.
//
// Calls `visit` with each record of a tree. Throws StructureError for a damaged tree.
void visit_records(Metadata& metadata, Address tree,
                   const std::function<void(Cursor record)>& visit);

// Returns the number of bytes needed to store numbers up to `limit`.
std::size_t bytes_for(std::uint64_t limit);

// The arrays that newer HDF5 files use as indexes of chunks.

// A function that is called with an entry and its index in the array.
using EntryVisitor = std::function<void(std::uint64_t index, Cursor entry)>;

// Call `visit` with all entries that were written, and possibly with other entries. Throw
// StructureError for a damaged array.
void visit_fixed_array(Metadata& metadata, Address array, const EntryVisitor& visit);
void visit_extensible_array(Metadata& metadata, Address array, const EntryVisitor& visit);

}  // namespace weft::hdf5
