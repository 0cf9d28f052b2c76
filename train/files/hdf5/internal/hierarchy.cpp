#include "train/files/hdf5/internal/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/files/hdf5/internal/objects.hpp"

namespace weft::hdf5 {
namespace {

constexpr std::size_t max_path_bytes = 4 << 20;  // limit for all paths in a listing together

// Returns the full path of the target of a soft link.
std::string target_path(std::string_view link, std::string_view target) {
  std::string path(target.starts_with('/') ? "" : link.substr(0, link.rfind('/')));
  while (!target.empty()) {
    const std::string_view name = target.substr(0, target.find('/'));
    if (!name.empty() && name != ".") path.append(1, '/').append(name);
    target.remove_prefix(std::min(name.size() + 1, target.size()));
  }
  return path.empty() ? "/" : path;
}

}  // namespace

struct Hierarchy::Listing {
  std::vector<std::string> datasets = {};
  std::vector<Address> open = {};  // the groups that contain the group being listed
  std::size_t links = 0;
  std::size_t path_bytes = 0;
};

ObjectHeader Hierarchy::open(Metadata& metadata, const std::string& path) {
  std::optional<ObjectHeader> object;
  if (is_path(path)) object = find(metadata, path);
  if (!object) fail_at(location(path), "an object", "no object of this name");
  return std::move(*object);
}

bool Hierarchy::has_group(const std::string& path) {
  if (!is_path(path)) return false;
  Metadata metadata(*file_);
  const std::optional<ObjectHeader> object = find(metadata, path);
  return object && object->kind() == ObjectKind::group;
}

std::optional<ObjectHeader> Hierarchy::find(Metadata& metadata, const std::string& path) {
  std::size_t soft_links = 0;
  const std::optional<Address> address = address_of(metadata, path, soft_links);
  if (!address) return std::nullopt;
  return at(location(path), [&] { return ObjectHeader(metadata, *address); });
}

std::optional<Address> Hierarchy::address_of(Metadata& metadata, const std::string& path,
                                             std::size_t& soft_links) {
  const std::string_view all = path;
  Address address = file_->root();
  for (std::size_t end = 0; end < all.size() && all != "/";) {
    const std::size_t begin = end + 1;
    const std::vector<Link>& links =
        links_at(metadata, address, end == 0 ? "/" : all.substr(0, end));
    end = std::min(all.find('/', begin), all.size());
    const std::string_view name = all.substr(begin, end - begin);
    const auto link = std::ranges::lower_bound(links, name, {}, &Link::name);
    if (link == links.end() || link->name != name) return std::nullopt;
    address = target_of(metadata, *link, all.substr(0, end), soft_links);
  }
  return address;
}

Address Hierarchy::target_of(Metadata& metadata, const Link& link, std::string_view path,
                             std::size_t& soft_links) {
  constexpr std::size_t max_soft_links = 16;  // limit on the way to an object, as in the library
  if (link.kind == LinkKind::hard) return link.target;
  return at(location(path), [&] {
    if (link.kind != LinkKind::soft)
      fail_structure("an object of this file", link.kind == LinkKind::external
                                                   ? "a link to another file"
                                                   : "a link of an unknown kind");
    if (++soft_links > max_soft_links)
      fail_structure(str_cat("at most ", max_soft_links, " soft links to an object"),
                     "more, or a cycle");
    const std::string target = target_path(path, link.path);
    std::optional<Address> address;
    if (is_path(target)) address = address_of(metadata, target, soft_links);
    if (!address)
      fail_structure(
          "an object of this file",
          str_cat("a soft link to '", Location::shortened(link.path), "', which does not exist"));
    return *address;
  });
}

const std::vector<Link>& Hierarchy::links_at(Metadata& metadata, Address address,
                                             std::string_view path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = links_.find(address); known != links_.end()) return known->second;
  }
  std::vector<Link> links = at(location(path), [&] {
    const ObjectHeader object(metadata, address);
    if (object.kind() != ObjectKind::group) return std::vector<Link>();
    return links_of(metadata, object, Hdf5File::max_objects);
  });
  const std::lock_guard lock(mutex_);
  return links_.emplace(address, std::move(links)).first->second;
}

std::vector<std::string> Hierarchy::datasets(const std::string& path) {
  Metadata metadata(*file_);
  if (open(metadata, path).kind() != ObjectKind::group)
    fail_at(location(path), "a group", "a different kind of object");
  Listing listing;
  std::size_t soft_links = 0;
  list(metadata, *address_of(metadata, path, soft_links), path, listing);
  std::ranges::sort(listing.datasets);
  return std::move(listing.datasets);
}

void Hierarchy::list(Metadata& metadata, Address address, const std::string& path,
                     Listing& listing) {
  const std::vector<Link>& links = links_at(metadata, address, path);
  at(location(path), [&] {
    if (listing.open.size() > Hdf5File::max_depth)
      fail_structure(str_cat("groups at most ", Hdf5File::max_depth, " deep"), "deeper");
    if (std::ranges::find(listing.open, address) != listing.open.end())
      fail_structure("groups that do not contain themselves", "a link to an outer group");
    listing.links += links.size();
    if (listing.links > Hdf5File::max_objects)
      fail_structure(str_cat("at most ", Hdf5File::max_objects, " objects"), "more");
  });
  listing.open.push_back(address);
  for (const Link& link : links) {
    const std::string child = path == "/" ? path + link.name : path + '/' + link.name;
    std::size_t soft_links = 0;
    const Address target = target_of(metadata, link, child, soft_links);
    const ObjectKind kind =
        at(location(child), [&] { return ObjectHeader(metadata, target).kind(); });
    if (kind == ObjectKind::named_type) continue;
    if (kind == ObjectKind::group) {
      list(metadata, target, child, listing);
      continue;
    }
    if (kind != ObjectKind::dataset)
      fail_at(location(child), "a group or a dataset", "a different kind of object");
    listing.path_bytes += child.size();
    if (listing.path_bytes > max_path_bytes)
      fail_at(location(path), str_cat("at most ", max_path_bytes, " bytes of names"), "more");
    listing.datasets.push_back(child);
  }
  listing.open.pop_back();
}

}  // namespace weft::hdf5
