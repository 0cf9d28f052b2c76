// The groups and datasets of a file, reached through hard links only.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "train/hdf5/internal/handle.hpp"

namespace weft::hdf5 {

class Hierarchy {
 public:
  // Both arguments must outlive the object.
  Hierarchy(const std::filesystem::path& name, hid_t file);

  // The object at a full path, as all paths here. Throws FileError when there is none, or when a
  // link on the path is not a hard link.
  Handle open(const std::string& path);
  // Returns whether there is a group at the path.
  bool has_group(const std::string& path);
  // The full paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group);

 private:
  Location location(const std::string& object) const { return {name_, object}; }
  // Both for a path that objects may have. Null when there is no group at the path.
  const Handle* group(const std::string& path);
  // An invalid handle when there is nothing at the path.
  Handle find(const std::string& path);
  void list(hid_t group, const std::string& path, std::size_t depth);

  const std::filesystem::path& name_;
  std::unordered_map<std::string, Handle> groups_;  // opened ones, by full path
  std::size_t links_listed_ = 0;
  std::vector<std::string> datasets_listed_;
};

}  // namespace weft::hdf5
