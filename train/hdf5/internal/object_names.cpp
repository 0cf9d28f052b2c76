#include "train/hdf5/internal/object_names.hpp"

#include <algorithm>

#include "weft/train/hdf5/hdf5_file.hpp"

namespace weft::hdf5 {
namespace {

// Takes the names of a full path one after another.
struct Names {
  std::string_view rest;  // "/a/b", and "" at the end

  bool empty() const { return rest.empty(); }
  std::string_view next() {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    const std::string_view name = rest.substr(1, end - 1);
    rest.remove_prefix(end);
    return name;
  }
};

bool is_too_deep(std::string_view full_path) {
  const auto slashes = std::count(full_path.begin(), full_path.end(), '/');
  return static_cast<std::size_t>(slashes) > Hdf5File::max_depth + 1;
}

}  // namespace

bool is_name(std::string_view name) {
  const auto invalid = [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  return !name.empty() && name.size() <= Hdf5File::max_name_bytes && name != "." && name != ".." &&
         std::none_of(name.begin(), name.end(), invalid);
}

bool is_path(std::string_view full_path) {
  if (full_path == "/") return true;
  if (is_too_deep(full_path)) return false;
  for (Names names{full_path}; !names.empty();)
    if (!is_name(names.next())) return false;
  return true;
}

void check_new_dataset(const Location& location) {
  const std::string& path = location.object;
  if (path == "/") fail<ValueError>(location.text(), "the path of a dataset", "that of the root");
  if (is_too_deep(path))
    fail<ValueError>(location.text(),
                     concatenate_text("a path of at most ", Hdf5File::max_depth, " groups"),
                     std::count(path.begin(), path.end(), '/') - 1);
  for (Names names{path}; !names.empty();)
    if (const std::string name(names.next()); !is_name(name))
      fail<ValueError>(
          location.text(),
          concatenate_text("names in the path that are printable, not '.' or '..', and of 1 to ",
                           Hdf5File::max_name_bytes, " bytes"),
          concatenate_text('\'', Location::shortened(name), '\''));
}

}  // namespace weft::hdf5
