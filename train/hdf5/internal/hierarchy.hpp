// The groups and datasets of a file, reached through hard links only.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "train/hdf5/internal/links.hpp"

namespace weft::hdf5 {

// May be used on several threads. Functions throw FileError with the path of the object.
class Hierarchy {
 public:
  explicit Hierarchy(std::shared_ptr<const SourceFile> file) : file_(std::move(file)) {}

  const std::shared_ptr<const SourceFile>& file() const { return file_; }
  Location location(std::string_view object) const { return {file_->path(), object}; }

  // The header of the object at a full path, as all paths here. Throws when there is none, or when
  // a link on the path is not a hard link.
  ObjectHeader open(Metadata& metadata, const std::string& path);
  // Returns whether there is a group at the path.
  bool has_group(const std::string& path);
  // The full paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group);

 private:
  struct Listing;

  // For a path that objects may have. None when there is nothing at the path.
  std::optional<ObjectHeader> find(Metadata& metadata, const std::string& path);
  std::optional<Address> address_of(Metadata& metadata, const std::string& path);
  void list(Metadata& metadata, Address address, const std::string& path, std::size_t depth,
            Listing& listing);

  std::shared_ptr<const SourceFile> file_;
  std::mutex mutex_;
  // The links of groups in which objects were looked for, by full path.
  std::unordered_map<std::string, std::vector<Link>> links_;
};

}  // namespace weft::hdf5
