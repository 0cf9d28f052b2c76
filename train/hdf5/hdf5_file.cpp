#include "weft/train/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "train/hdf5/internal/attributes.hpp"
#include "train/hdf5/internal/elements.hpp"
#include "train/hdf5/internal/hierarchy.hpp"

namespace weft {
namespace {

std::shared_ptr<hdf5::Hierarchy> open_file(const std::filesystem::path& path,
                                           hdf5::Checksum checksum) {
  return hdf5::at({path}, [&] {
    return std::make_shared<hdf5::Hierarchy>(
        std::make_shared<const hdf5::SourceFile>(path, checksum));
  });
}

}  // namespace

Hdf5File::Hdf5File(std::shared_ptr<hdf5::Hierarchy> hierarchy) : hierarchy_(std::move(hierarchy)) {}
Hdf5File::Hdf5File(const std::filesystem::path& path)
    : Hdf5File(open_file(path, hdf5::Checksum::optional)) {}

Hdf5File Hdf5File::open_verified(const std::filesystem::path& path) {
  return Hdf5File(open_file(path, hdf5::Checksum::required));
}

hdf5::Hierarchy& Hdf5File::hierarchy() const {
  if (!hierarchy_) fail<ValueError>("Hdf5File", "an open file", "one that was moved from");
  return *hierarchy_;
}

const std::filesystem::path& Hdf5File::path() const { return hierarchy().file()->path(); }

std::string Hdf5File::full_path(const std::string& path) {
  std::string full;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) full += '/' + path.substr(begin, end - begin);
    begin = end + 1;
  }
  return full.empty() ? "/" : full;
}

bool Hdf5File::has_group(const std::string& path) const {
  return hierarchy().has_group(full_path(path));
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  return hierarchy().datasets(full_path(group));
}

Hdf5Dataset Hdf5File::dataset(const std::string& path) const {
  const std::string object = full_path(path);
  hdf5::Metadata metadata(*hierarchy().file());
  const hdf5::ObjectHeader header = hierarchy().open(metadata, object);
  return hdf5::at(hierarchy().location(object),
                  [&] { return Hdf5Dataset(hierarchy().file(), object, header); });
}

template <class T>
T Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const std::string full_object = full_path(object);
  hdf5::Metadata metadata(*hierarchy().file());
  return hdf5::at(hierarchy().location(full_object + " attribute " + name), [&] {
    const std::optional<hdf5::Attribute> found =
        hdf5::find_attribute(metadata, hierarchy().open(metadata, full_object), name);
    if (!found) hdf5::fail_structure("an attribute", "none");
    return hdf5::convert_value<T>(metadata, found->type, found->shape, found->data.rest());
  });
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const std::string full_object = full_path(object);
  hdf5::Metadata metadata(*hierarchy().file());
  return hdf5::at(hierarchy().location(full_object), [&] {
    const hdf5::ObjectHeader header = hierarchy().open(metadata, full_object);
    return hdf5::find_attribute(metadata, header, name).has_value();
  });
}

template double Hdf5File::attribute(const std::string&, const std::string&) const;
template std::int64_t Hdf5File::attribute(const std::string&, const std::string&) const;
template std::string Hdf5File::attribute(const std::string&, const std::string&) const;

}  // namespace weft
