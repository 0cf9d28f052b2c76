#include "train/weights/internal/dataset_names.hpp"

#include <algorithm>
#include <cstdint>

#include "weft/autograd/error.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {
namespace {

bool has_average(const TensorFile& file) {
  if (!file.has_group("model") || !file.has_group(average_group)) return false;
  const std::string updates = TensorFile::full_path(average_group) + "/updates";
  return std::ranges::binary_search(file.datasets(average_group), updates) &&
         file.type(updates) == "int64" && file.value<std::int64_t>(updates) > 0;
}

}  // namespace

std::string path_of_name(const std::string& name) {
  const bool invalid =
      std::any_of(name.begin(), name.end(), [](char c) { return c == '/' || c == 0; });
  std::string path = '/' + name;
  std::replace(path.begin(), path.end(), '.', '/');
  if (invalid || path.ends_with('/') || path.find("//") != std::string::npos)
    fail<ValueError>("name of a dataset", "non-empty parts between dots, without '/' or NUL",
                     str_cat('\'', name, '\''));
  return path;
}

PathsByName datasets_by_name(const TensorFile& file, const std::string& group) {
  PathsByName paths;
  const std::string group_path = TensorFile::full_path(group);
  const std::size_t prefix = group_path == "/" ? 1 : group_path.size() + 1;
  for (const std::string& path : file.datasets(group)) {
    std::string name = path.substr(prefix);
    std::replace(name.begin(), name.end(), '/', '.');
    if (const auto [same, added] = paths.emplace(name, path); !added)
      fail_on_file(file.path(), str_cat("one dataset for ", name),
                   str_cat(same->second, " and ", path));
  }
  return paths;
}

std::vector<std::string> use_average(const TensorFile& file, const std::string& prefix,
                                     PathsByName& paths) {
  std::vector<std::string> replaced;
  if (!has_average(file)) return replaced;
  for (const auto& [name, path] : datasets_by_name(file, average_group))
    if (const auto own = paths.find(prefix + name); own != paths.end()) {
      own->second = path;
      replaced.push_back(own->first);
    }
  return replaced;
}

}  // namespace weft
