#include "train/weights/internal/stored_average.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "train/weights/internal/dataset_names.hpp"

namespace weft {

bool has_average(const Hdf5File& file) {
  if (!file.has_group("model") || !file.has_group(average_group)) return false;
  const std::string updates = Hdf5File::full_path(average_group) + "/updates";
  return std::ranges::binary_search(file.datasets(average_group), updates) &&
         file.type(updates) == "int64" && file.value<std::int64_t>(updates) > 0;
}

std::vector<std::string> use_average(const Hdf5File& file, const std::string& prefix,
                                     std::map<std::string, std::string>& paths) {
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
