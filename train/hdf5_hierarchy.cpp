#include "train/hdf5_hierarchy.hpp"

#include <algorithm>

#include "train/hdf5_file.hpp"

namespace weft::hdf5 {
namespace {

struct Link {
  std::string name;
  H5L_type_t kind;
};

void check_kind(H5L_type_t kind, const Place& place) {
  if (kind == H5L_TYPE_HARD) return;
  refuse(place, "an object of this file",
         kind == H5L_TYPE_SOFT       ? "a soft link"
         : kind == H5L_TYPE_EXTERNAL ? "a link to another file"
                                     : "a link of an unknown kind");
}

// All links of a group, sorted by name; at most `limit`.
std::vector<Link> links_of(hid_t group, std::size_t limit, const Place& place) {
  struct Collected {
    std::vector<Link> links;
    std::size_t limit;
  } collected{{}, limit};
  // An exception must not pass through the library.
  const auto collect = [](hid_t, const char* name, const H5L_info_t* info,
                          void* out) noexcept -> herr_t {
    auto& [links, most] = *static_cast<Collected*>(out);
    links.push_back({name, info->type});
    return links.size() > most ? 1 : 0;
  };
  const herr_t more =
      checked(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect, &collected), place,
              "a group that can be listed");
  if (more > 0)
    refuse(place, concatenate_text("at most ", Hdf5File::max_objects, " objects"), "more");
  std::sort(collected.links.begin(), collected.links.end(),
            [](const Link& a, const Link& b) { return a.name < b.name; });
  return std::move(collected.links);
}

// Names that stand for themselves alone, in paths and in messages.
void check_names(const std::vector<Link>& links, const Place& place) {
  for (const auto& [name, kind] : links) {
    if (name.size() > Hdf5File::max_name_bytes)
      refuse(place, concatenate_text("names of at most ", Hdf5File::max_name_bytes, " bytes"),
             concatenate_text("one of ", name.size()));
    const auto unprintable = [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        std::any_of(name.begin(), name.end(), unprintable))
      refuse(place, "names of printable characters that are no path",
             concatenate_text("'", Place::printable(name), "'"));
  }
  const auto same = std::adjacent_find(
      links.begin(), links.end(), [](const Link& a, const Link& b) { return a.name == b.name; });
  if (same != links.end())
    refuse(place, "names that differ", concatenate_text("'", same->name, "' twice"));
}

// How many hard links lead to an object.
unsigned link_count(hid_t object, const Place& place) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  checked(H5Oget_info3(object, &info, H5O_INFO_BASIC), place, "an object");
#else
  H5O_info_t info;
  checked(H5Oget_info2(object, &info, H5O_INFO_BASIC), place, "an object");
#endif
  return info.rc;
}

}  // namespace

Handle Hierarchy::open(const std::string& path) {
  if (!exists(path)) refuse(place(path), "an object of that name", "none");
  return checked_handle(H5Oopen(file_, path.c_str(), H5P_DEFAULT), place(path), "an object");
}

bool Hierarchy::has_group(const std::string& path) {
  return exists(path) && H5Iget_type(open(path)) == H5I_GROUP;
}

// Looks at each link of the path before the library follows it.
bool Hierarchy::exists(const std::string& path) {
  for (std::size_t end = path.find('/', 1); path.size() > 1; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    const bool last = end == std::string::npos;
    if (!followed_.contains(prefix)) {
      H5L_info_t info;
      if (H5Lget_info(file_, prefix.c_str(), &info, H5P_DEFAULT) < 0) {
        if (H5Lexists(file_, prefix.c_str(), H5P_DEFAULT) == 0) return false;
        fail_with_hdf5(place(prefix), "a link");
      }
      check_kind(info.type, place(prefix));
      if (!last) {
        const Handle object =
            checked_handle(H5Oopen(file_, prefix.c_str(), H5P_DEFAULT), place(prefix), "an object");
        if (H5Iget_type(object) != H5I_GROUP) return false;
        check_group(prefix, object);
        followed_.insert(prefix);
      }
    }
    if (last) break;
  }
  return true;
}

// The library keeps the links of large groups in blocks that filters can be set for.
void Hierarchy::check_group(const std::string& path, hid_t group) const {
  const Handle properties = checked_handle(H5Gget_create_plist(group), place(path), "a group");
  if (checked(H5Pget_nfilters(properties), place(path), "a group") > 0)
    refuse(place(path), "links without filters", "a group that has some");
}

std::vector<std::string> Hierarchy::datasets(const std::string& group) {
  std::vector<std::string> found;
  std::size_t seen = 0;
  list(group, 0, seen, found);
  std::sort(found.begin(), found.end());
  return found;
}

void Hierarchy::list(const std::string& path, std::size_t depth, std::size_t& seen,
                     std::vector<std::string>& found) {
  const Handle group = open(path);
  if (H5Iget_type(group) != H5I_GROUP) refuse(place(path), "a group", "something else");
  if (depth > Hdf5File::max_depth)
    refuse(place(path), concatenate_text("groups at most ", Hdf5File::max_depth, " deep"),
           "deeper");
  check_group(path, group);
  if (link_count(group, place(path)) > 1)
    refuse(place(path), "a group in one place", "one that has several hard links");
  const std::vector<Link> links = links_of(group, Hdf5File::max_objects - seen, place(path));
  check_names(links, place(path));
  seen += links.size();
  for (const auto& [name, kind] : links) {
    const std::string child = path == "/" ? path + name : path + '/' + name;
    check_kind(kind, place(child));
    const Handle object =
        checked_handle(H5Oopen(group, name.c_str(), H5P_DEFAULT), place(child), "an object");
    const H5I_type_t type = H5Iget_type(object);
    if (type == H5I_GROUP)
      list(child, depth + 1, seen, found);
    else if (type == H5I_DATASET)
      found.push_back(child);
    else
      refuse(place(child), "a group or a dataset", "an object of another kind");
  }
}

}  // namespace weft::hdf5
