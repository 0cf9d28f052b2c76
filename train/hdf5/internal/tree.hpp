// B-trees of version 1: the symbols of a group, the chunks of a dataset.
#pragma once

#include <functional>

#include "train/hdf5/internal/metadata.hpp"

namespace weft::hdf5 {

enum class TreeOf : unsigned { groups = 0, chunks = 1 };

// Calls `visit` with the key and the address of each child of the leaves, in order. Throws
// FileError for a damaged tree.
void visit_tree(Metadata& metadata, Address root, TreeOf kind, std::size_t key_size,
                const Location& location, const std::function<void(Bytes key, Address)>& visit);

}  // namespace weft::hdf5
