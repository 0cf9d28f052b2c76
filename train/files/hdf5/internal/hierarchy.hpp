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

// May be used on several threads. Functions throw FileError with the path of the object.
class Hierarchy {
 public:
  explicit Hierarchy(std::shared_ptr<const SourceFile> file) : file_(std::move(file)) {}

  const std::shared_ptr<const SourceFile>& file() const { return file_; }
  Location location(std::string_view object) const { return {file_->path(), object}; }

  // The header of the object at a full path, as all paths here. Throws when there is none, or when
  // a link on the path leads elsewhere or nowhere.
  ObjectHeader open(Metadata& metadata, const std::string& path);
  // Returns whether there is a group at the path.
  bool has_group(const std::string& path);
  // The full paths of all datasets below a group, sorted.
  std::vector<std::string> datasets(const std::string& group);

 private:
  struct Listing;

  // For a path that objects may have. None when there is nothing at the path.
  std::optional<ObjectHeader> find(Metadata& metadata, const std::string& path);
  // Adds the number of soft links on the way to `soft_links`.
  std::optional<Address> address_of(Metadata& metadata, const std::string& path,
                                    std::size_t& soft_links);
  // Where a link with this path leads.
  Address target_of(Metadata& metadata, const Link& link, std::string_view path,
                    std::size_t& soft_links);
  // The links of the object at an address, which has a path; none of one that is not a group.
  const std::vector<Link>& links_at(Metadata& metadata, Address address, std::string_view path);
  void list(Metadata& metadata, Address address, const std::string& path, Listing& listing);

  std::shared_ptr<const SourceFile> file_;
  std::mutex mutex_;
  std::unordered_map<Address, std::vector<Link>> links_;  // that were read
};

}  // namespace weft::hdf5
