#include "weft/train/files/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "train/files/hdf5/internal/elements.hpp"
#include "train/files/hdf5/internal/hierarchy.hpp"
#include "train/files/hdf5/internal/objects.hpp"
#include "train/files/hdf5/internal/stored_data.hpp"

namespace weft {
namespace {

hdf5::ElementType element_type(hdf5::Metadata& metadata, const hdf5::ObjectHeader& header) {
  if (const hdf5::ObjectKind kind = header.kind(); kind != hdf5::ObjectKind::dataset)
    hdf5::fail_structure(
        "a dataset", kind == hdf5::ObjectKind::group ? "a group" : "a different kind of object");
  return hdf5::read_element_type(header.type(metadata));
}

class Hdf5Source final : public hdf5::DatasetSource {
 public:
  // Throws hdf5::StructureError unless the header describes a dataset whose data are in the file.
  Hdf5Source(std::shared_ptr<const hdf5::SourceFile> file, std::string path,
             hdf5::Metadata& metadata, const hdf5::ObjectHeader& header)
      : DatasetSource(std::move(path), element_type(metadata, header)),
        file_(std::move(file)),
        data_(header),
        dataspace_(header.require(hdf5::MessageType::dataspace, "a shape")) {}

  hdf5::Location location() const override { return {file_->path(), path()}; }
  Shape shape() const override { return hdf5::read_shape(dataspace_); }
  void locate() override {
    const std::lock_guard lock(mutex_);
    if (is_located_) return;
    hdf5::Metadata metadata(*file_);
    data_.locate(metadata, hdf5::read_extent(dataspace_), type().bytes);
    is_located_ = true;
  }
  void read(Index first, Index last, const hdf5::ElementSink& sink) const override {
    data_.read(*file_, first, last, sink);
  }
  const hdf5::SourceFile* hdf5_file() const override { return file_.get(); }

 private:
  std::shared_ptr<const hdf5::SourceFile> file_;
  hdf5::StoredData data_;
  hdf5::Cursor dataspace_;
  std::mutex mutex_ = {};
  bool is_located_ = false;
};

// Opens a file by the path and the remaining arguments of a constructor of SourceFile.
template <class Argument>
std::shared_ptr<hdf5::Hierarchy> open_file(const std::filesystem::path& path, Argument argument) {
  return hdf5::at({path}, [&] {
    return std::make_shared<hdf5::Hierarchy>(
        std::make_shared<const hdf5::SourceFile>(path, std::move(argument)));
  });
}

}  // namespace

Hdf5File::Hdf5File(std::shared_ptr<hdf5::Hierarchy> hierarchy) : hierarchy_(std::move(hierarchy)) {}
Hdf5File::Hdf5File(const std::filesystem::path& path)
    : Hdf5File(open_file(path, hdf5::Checksum::optional)) {}

Hdf5File Hdf5File::open_verified(const std::filesystem::path& path) {
  return Hdf5File(open_file(path, hdf5::Checksum::required));
}

Hdf5File Hdf5File::from_bytes(const std::filesystem::path& path, std::string bytes) {
  return Hdf5File(open_file(path, std::move(bytes)));
}

hdf5::Hierarchy& Hdf5File::hierarchy() const {
  if (!hierarchy_) fail<ValueError>("Hdf5File", "an open file", "a moved-from file");
  return *hierarchy_;
}

const std::filesystem::path& Hdf5File::path() const { return hierarchy().file()->path(); }

bool Hdf5File::has_group(const std::string& path) const {
  return hierarchy().has_group(full_path(path));
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  return hierarchy().datasets(full_path(group));
}

StoredDataset Hdf5File::dataset(const std::string& path) const {
  const std::string object = full_path(path);
  hdf5::Metadata metadata(*hierarchy().file());
  const hdf5::ObjectHeader header = hierarchy().open(metadata, object);
  return hdf5::at(hierarchy().location(object), [&] {
    return StoredDataset(
        std::make_shared<Hdf5Source>(hierarchy().file(), object, metadata, header));
  });
}

template <class T>
T Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const std::string full_object = full_path(object);
  hdf5::Metadata metadata(*hierarchy().file());
  return hdf5::at(hierarchy().location(full_object + " attribute " + name), [&] {
    const std::optional<hdf5::Attribute> found =
        hdf5::find_attribute(metadata, hierarchy().open(metadata, full_object), name);
    if (!found) hdf5::fail_structure("an attribute", "no such attribute");
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      std::vector<std::string> strings;
      hdf5::Cursor elements = found->data;
      for (Index i = 0; i < found->shape.elements(); ++i)
        strings.push_back(hdf5::convert_value<std::string>(metadata, found->type, Shape{},
                                                           elements.take(found->type.bytes)));
      return strings;
    } else {
      return hdf5::convert_value<T>(metadata, found->type, found->shape, found->data.rest());
    }
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
template std::vector<std::string> Hdf5File::attribute(const std::string&, const std::string&) const;

}  // namespace weft
