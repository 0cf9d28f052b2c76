#include "train/hdf5/internal/hierarchy.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/hdf5/internal/object_names.hpp"

namespace weft::hdf5 {
namespace {

constexpr std::size_t max_path_bytes = 4 << 20;  // of all paths in a listing

void check_kind(LinkKind kind) {
  if (kind == LinkKind::hard) return;
  fail_structure("an object of this file", kind == LinkKind::soft ? "a soft link"
                                           : kind == LinkKind::external
                                               ? "a link to another file"
                                               : "a link of an unknown kind");
}

// "/a" and "b" of "/a/b".
std::pair<std::string, std::string> parent_and_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return {path.substr(0, std::max<std::size_t>(slash, 1)), path.substr(slash + 1)};
}

// The target of the link of a name; none when there is no such link.
std::optional<Address> target_of(const std::vector<Link>& links, const std::string& name) {
  const auto link = std::ranges::lower_bound(links, name, {}, &Link::name);
  if (link == links.end() || link->name != name) return std::nullopt;
  check_kind(link->kind);
  return link->target;
}

}  // namespace

struct Hierarchy::Listing {
  std::vector<std::string> datasets = {};
  std::unordered_set<Address> groups = {};
  std::size_t links = 0;
  std::size_t path_bytes = 0;
};

ObjectHeader Hierarchy::open(Metadata& metadata, const std::string& path) {
  std::optional<ObjectHeader> object;
  if (is_path(path)) object = find(metadata, path);
  if (!object) fail_at(location(path), "an object of that name", "none");
  return std::move(*object);
}

bool Hierarchy::has_group(const std::string& path) {
  if (!is_path(path)) return false;
  Metadata metadata(*file_);
  const std::optional<ObjectHeader> object = find(metadata, path);
  return object && object->kind() == ObjectKind::group;
}

std::optional<ObjectHeader> Hierarchy::find(Metadata& metadata, const std::string& path) {
  const std::optional<Address> address = address_of(metadata, path);
  if (!address) return std::nullopt;
  return at(location(path), [&] { return ObjectHeader(metadata, *address); });
}

// Checks a link before it is followed.
std::optional<Address> Hierarchy::address_of(Metadata& metadata, const std::string& path) {
  const auto names = parent_and_name(path);
  const auto& parent = names.first;
  if (names.second.empty()) return file_->root();
  const auto target = [&](const std::vector<Link>& links) {
    return at(location(path), [&] { return target_of(links, names.second); });
  };
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = links_.find(parent); known != links_.end()) return target(known->second);
  }
  const std::optional<ObjectHeader> group = find(metadata, parent);
  if (!group || group->kind() != ObjectKind::group) return std::nullopt;
  std::vector<Link> links =
      at(location(parent), [&] { return links_of(metadata, *group, Hdf5File::max_objects); });
  const std::lock_guard lock(mutex_);
  return target(links_.emplace(parent, std::move(links)).first->second);
}

std::vector<std::string> Hierarchy::datasets(const std::string& path) {
  Metadata metadata(*file_);
  if (open(metadata, path).kind() != ObjectKind::group)
    fail_at(location(path), "a group", "something else");
  Listing listing;
  list(metadata, *address_of(metadata, path), path, 0, listing);
  std::ranges::sort(listing.datasets);
  return std::move(listing.datasets);
}

void Hierarchy::list(Metadata& metadata, Address address, const std::string& path,
                     std::size_t depth, Listing& listing) {
  const std::vector<Link> links = at(location(path), [&] {
    if (depth > Hdf5File::max_depth)
      fail_structure(concatenate_text("groups at most ", Hdf5File::max_depth, " deep"), "deeper");
    if (!listing.groups.insert(address).second)
      fail_structure("a group with one hard link", "one with several hard links");
    const std::size_t limit = Hdf5File::max_objects - listing.links;
    return links_of(metadata, ObjectHeader(metadata, address), limit);
  });
  listing.links += links.size();
  for (const Link& link : links) {
    const std::string child = path == "/" ? path + link.name : path + '/' + link.name;
    const ObjectKind kind = at(location(child), [&] {
      check_kind(link.kind);
      const ObjectKind found = ObjectHeader(metadata, link.target).kind();
      if (found == ObjectKind::other)
        fail_structure("a group or a dataset", "an object of another kind");
      return found;
    });
    if (kind == ObjectKind::group) {
      list(metadata, link.target, child, depth + 1, listing);
      continue;
    }
    listing.path_bytes += child.size();
    if (listing.path_bytes > max_path_bytes)
      fail_at(location(path), concatenate_text("at most ", max_path_bytes, " bytes of names"),
              "more");
    listing.datasets.push_back(child);
  }
}

}  // namespace weft::hdf5
