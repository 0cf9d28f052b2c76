#include "train/hdf5/internal/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/hdf5/internal/object_names.hpp"

namespace weft::hdf5 {
namespace {

struct Link {
  std::string name;
  H5L_type_t kind;
};

void check_kind(H5L_type_t kind, const Location& location) {
  if (kind == H5L_TYPE_HARD) return;
  fail_at(location, "an object of this file",
          kind == H5L_TYPE_SOFT       ? "a soft link"
          : kind == H5L_TYPE_EXTERNAL ? "a link to another file"
                                      : "a link of an unknown kind");
}

// All links of a group, sorted by name; at most `limit`.
std::vector<Link> links_of(hid_t group, std::size_t limit, const Location& location) {
  struct Collected {
    std::vector<Link> links;
    std::size_t limit;
    Callback callback;
  } collected{{}, limit, {}};
  const herr_t more = H5Literate(
      group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
        auto& [links, max_links, callback] = *static_cast<Collected*>(out);
        return callback.call([&] {
          links.push_back({name, info->type});
          return links.size() > max_links ? 1 : 0;
        });
      },
      &collected);
  collected.callback.rethrow();
  checked(more, location, "a group that can be listed");
  if (more > 0)
    fail_at(location, concatenate_text("at most ", Hdf5File::max_objects, " objects"), "more");
  std::sort(collected.links.begin(), collected.links.end(),
            [](const Link& a, const Link& b) { return a.name < b.name; });
  return std::move(collected.links);
}

// Checks that the names are valid and unambiguous, in paths and in messages.
void check_names(const std::vector<Link>& links, const Location& location) {
  for (const auto& [name, kind] : links) {
    if (name.size() > Hdf5File::max_name_bytes)
      fail_at(location, concatenate_text("names of at most ", Hdf5File::max_name_bytes, " bytes"),
              concatenate_text("one of ", name.size()));
    if (!is_name(name))
      fail_at(location, "printable names that are not paths", concatenate_text("'", name, "'"));
  }
  const auto same = std::adjacent_find(
      links.begin(), links.end(), [](const Link& a, const Link& b) { return a.name == b.name; });
  if (same != links.end())
    fail_at(location, "distinct names", concatenate_text("'", same->name, "' twice"));
}

[[noreturn]] void fail_with_second_link(const Location& location) {
  fail_at(location, "a group with one hard link", "one with several hard links");
}

struct ObjectInfo {
  H5O_type_t kind;
  unsigned hard_links;  // to the object
};

ObjectInfo info_of(hid_t group, const std::string& name, const Location& location) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  checked(H5Oget_info_by_name3(group, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), location,
          "an object");
#else
  H5O_info_t info;
  checked(H5Oget_info_by_name2(group, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), location,
          "an object");
#endif
  return {info.type, info.rc};
}

// The library stores the links of large groups in blocks, which may have filters.
void check_group(hid_t group, const Location& location) {
  const Handle properties = checked_handle(H5Gget_create_plist(group), location, "a group");
  if (checked(H5Pget_nfilters(properties), location, "a group") > 0)
    fail_at(location, "a group without filters", "one with filters");
}

// "/a" and "b" of "/a/b".
std::pair<std::string, std::string> parent_and_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return {path.substr(0, std::max<std::size_t>(slash, 1)), path.substr(slash + 1)};
}

}  // namespace

Hierarchy::Hierarchy(const std::filesystem::path& name, hid_t file) : name_(name) {
  const std::string root = "/";
  groups_.emplace(root,
                  checked_handle(H5Gopen2(file, "/", H5P_DEFAULT), location(root), "a group"));
}

Handle Hierarchy::open(const std::string& path) {
  Handle object = is_path(path) ? find(path) : Handle();
  if (object < 0) fail_at(location(path), "an object of that name", "none");
  return object;
}

bool Hierarchy::has_group(const std::string& path) {
  return is_path(path) && group(path) != nullptr;
}

// Checks a link before the library follows it.
Handle Hierarchy::find(const std::string& path) {
  const auto [parent, name] = parent_and_name(path);
  const Handle* parent_group = group(parent);
  if (!parent_group) return Handle();
  if (name.empty())
    return checked_handle(H5Oopen(*parent_group, ".", H5P_DEFAULT), location(path), "a group");
  H5L_info_t link;
  if (H5Lget_info(*parent_group, name.c_str(), &link, H5P_DEFAULT) < 0) {
    if (H5Lexists(*parent_group, name.c_str(), H5P_DEFAULT) == 0) return Handle();
    fail_with_hdf5(location(path), "a link");
  }
  check_kind(link.type, location(path));
  return checked_handle(H5Oopen(*parent_group, name.c_str(), H5P_DEFAULT), location(path),
                        "an object");
}

const Handle* Hierarchy::group(const std::string& path) {
  if (const auto known = groups_.find(path); known != groups_.end()) return &known->second;
  Handle object = find(path);
  if (object < 0 || H5Iget_type(object) != H5I_GROUP) return nullptr;
  check_group(object, location(path));
  return &groups_.emplace(path, std::move(object)).first->second;
}

std::vector<std::string> Hierarchy::datasets(const std::string& path) {
  links_listed_ = 0;
  datasets_listed_.clear();
  const Handle top = open(path);
  if (H5Iget_type(top) != H5I_GROUP) fail_at(location(path), "a group", "something else");
  if (info_of(top, ".", location(path)).hard_links > 1) fail_with_second_link(location(path));
  list(top, path, 0);
  std::sort(datasets_listed_.begin(), datasets_listed_.end());
  return std::move(datasets_listed_);
}

void Hierarchy::list(hid_t group, const std::string& path, std::size_t depth) {
  if (depth > Hdf5File::max_depth)
    fail_at(location(path), concatenate_text("groups at most ", Hdf5File::max_depth, " deep"),
            "deeper");
  check_group(group, location(path));
  const std::vector<Link> links =
      links_of(group, Hdf5File::max_objects - links_listed_, location(path));
  check_names(links, location(path));
  links_listed_ += links.size();
  for (const auto& [name, kind] : links) {
    const std::string child = path == "/" ? path + name : path + '/' + name;
    check_kind(kind, location(child));
    const ObjectInfo info = info_of(group, name, location(child));
    if (info.kind == H5O_TYPE_DATASET) {
      datasets_listed_.push_back(child);
      continue;
    }
    if (info.kind != H5O_TYPE_GROUP)
      fail_at(location(child), "a group or a dataset", "an object of another kind");
    if (info.hard_links > 1) fail_with_second_link(location(child));
    list(checked_handle(H5Gopen2(group, name.c_str(), H5P_DEFAULT), location(child), "a group"),
         child, depth + 1);
  }
}

}  // namespace weft::hdf5
