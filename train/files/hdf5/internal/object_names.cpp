#include "train/files/hdf5/internal/object_names.hpp"

#include <algorithm>
#include <optional>

#include "weft/train/files/hdf5/hdf5_file.hpp"

namespace weft::hdf5 {
namespace {

// The number of groups on a full path.
std::size_t depth_of(std::string_view full_path) {
  return static_cast<std::size_t>(std::ranges::count(full_path, '/')) - 1;
}

// The first name on a full path that no object may have.
std::optional<std::string_view> invalid_name(std::string_view full_path) {
  for (std::string_view rest = full_path; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    if (const std::string_view name = rest.substr(1, end - 1); !is_name(name)) return name;
    rest.remove_prefix(end);
  }
  return std::nullopt;
}

}  // namespace

bool is_name(std::string_view name) {
  const auto invalid = [](char c) {
    return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  return !name.empty() && name.size() <= Hdf5File::max_name_bytes && name != "." && name != ".." &&
         std::ranges::none_of(name, invalid);
}

bool is_path(std::string_view full_path) {
  return full_path == "/" ||
         (depth_of(full_path) <= Hdf5File::max_depth && !invalid_name(full_path));
}

void check_new_dataset(const Location& location) {
  const std::string_view path = location.object;
  if (path == "/") fail<ValueError>(location.text(), "the path of a dataset", "that of the root");
  if (depth_of(path) > Hdf5File::max_depth)
    fail<ValueError>(location.text(),
                     concatenate_text("a path of at most ", Hdf5File::max_depth, " groups"),
                     depth_of(path));
  if (const std::optional<std::string_view> name = invalid_name(path))
    fail<ValueError>(
        location.text(),
        concatenate_text("names in the path that are printable, not '.' or '..', and of 1 to ",
                         Hdf5File::max_name_bytes, " bytes"),
        concatenate_text('\'', Location::shortened(*name), '\''));
}

}  // namespace weft::hdf5
