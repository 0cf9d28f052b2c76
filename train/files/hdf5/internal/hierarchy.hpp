// The groups and datasets of a file, reached through hard and soft links.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "train/files/hdf5/internal/objects.hpp"

namespace weft::hdf5 {

// Several threads may use it at the same time. All paths are full paths. Functions throw FileError,
// which names the path of the object.
class Hierarchy {
 public:
  explicit Hierarchy(std::shared_ptr<const SourceFile> file) : file_(std::move(file)) {}

  const std::shared_ptr<const SourceFile>& file() const { return file_; }
  Location location(std::string_view object) const { return {file_->path(), object}; }

  // Returns the header of the object at a path. Throws if there is no object, or if a link on the
  // path leads out of the file or nowhere.
  ObjectHeader open(Metadata& metadata, const std::string& path);
  // Returns whether there is a group at the path.
  bool has_group(const std::string& path);
  // Returns the paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group);

 private:
  struct Listing;

  // Returns the object at a valid path, or nothing if there is no object.
  std::optional<ObjectHeader> find(Metadata& metadata, const std::string& path);
  // Adds the number of soft links on the way to `soft_links`.
  std::optional<Address> address_of(Metadata& metadata, const std::string& path,
                                    std::size_t& soft_links);
  // Returns the address of the object that a link with this path refers to.
  Address target_of(Metadata& metadata, const Link& link, std::string_view path,
                    std::size_t& soft_links);
  // Returns the links of the object at an address; none if it is not a group. Errors name `path`.
  const std::vector<Link>& links_at(Metadata& metadata, Address address, std::string_view path);
  void list(Metadata& metadata, Address address, const std::string& path, Listing& listing);

  std::shared_ptr<const SourceFile> file_;
  std::mutex mutex_;
  std::unordered_map<Address, std::vector<Link>> links_;  // links already read
};

}  // namespace weft::hdf5
