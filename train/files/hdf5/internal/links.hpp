// The links of a group: the names and addresses of its objects.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "train/files/hdf5/internal/object_header.hpp"

namespace weft::hdf5 {

enum class LinkKind : unsigned { hard = 0, soft = 1, external = 64 };  // and others

struct Link {
  std::string name;
  LinkKind kind;
  Address target;    // of a hard link
  std::string path;  // of a soft link: that of its target, from the root or from the group on
};

// All links of a group, sorted by name. Throws StructureError when there are more than `limit`, for
// names that objects may not have (see is_name), and for two of the same name.
std::vector<Link> links_of(Metadata& metadata, const ObjectHeader& group, std::size_t limit);

}  // namespace weft::hdf5
