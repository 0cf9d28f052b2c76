// The groups and datasets of a file, reached through hard links only.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "train/hdf5_handle.hpp"

namespace weft::hdf5 {

class Hierarchy {
 public:
  // Both must outlive it.
  Hierarchy(const std::filesystem::path& name, hid_t file) : name_(name), file_(file) {}

  // The object at a path, full as are all here. Throws FileError when there is none, or when a link
  // on the way leads elsewhere.
  Handle open(const std::string& path);
  // False when there is nothing at the path, or no group.
  bool has_group(const std::string& path);
  // The full paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group);

 private:
  Place place(const std::string& object) const { return {name_, object}; }
  bool exists(const std::string& path);
  void check_group(const std::string& path, hid_t group) const;
  void list(const std::string& group, std::size_t depth, std::size_t& seen,
            std::vector<std::string>& found);

  const std::filesystem::path& name_;
  hid_t file_;
  std::set<std::string> followed_;  // groups that were found to be reached by hard links
};

}  // namespace weft::hdf5
