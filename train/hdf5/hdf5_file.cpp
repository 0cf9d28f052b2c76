#include "weft/train/hdf5/hdf5_file.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "train/files/sealed_file.hpp"
#include "train/hdf5/internal/attributes.hpp"
#include "train/hdf5/internal/dataset_state.hpp"
#include "train/hdf5/internal/elements.hpp"
#include "train/hdf5/internal/hierarchy.hpp"

namespace weft {
namespace fs = std::filesystem;

using hdf5::Location;

namespace {

enum class Checksum { optional, required };

// Throws when the checksum is wrong, or when there is none and one is required.
void check_bytes(const OpenFile& file, const hdf5::Superblock& superblock, const fs::path& path,
                 Checksum checksum) {
  const std::uint64_t after_data = file.size() - superblock.end;
  // The checksum takes time in proportion to the size of the file, which should be that of its
  // data.
  if (after_data != checksum_line_size && has_checksum_line(file))
    fail_on_file(path,
                 concatenate_text("an HDF5 file of ", file.size() - checksum_line_size,
                                  " bytes before the checksum line"),
                 concatenate_text("one of ", superblock.end));
  // Other programs leave nothing after the data, or more: this is a checksum line, if damaged.
  if (0 < after_data && after_data <= checksum_line_size)
    verify_checksum_line(file, path);
  else if (checksum == Checksum::required)
    fail_on_file(path, "a file of weft with its checksum in the last line",
                 "one without (truncated, or written by another program)");
}

std::shared_ptr<const hdf5::SourceFile> open_source(const fs::path& path, Checksum checksum) {
  OpenFile file(path);
  if (file.size() == 0) fail_on_file(path, "an HDF5 file", "an empty file");
  if (!file.descriptor().lock_shared())
    fail_on_file(path, "a complete file", "one that another process is writing");
  const std::string no_object;
  const std::optional<hdf5::Superblock> superblock = hdf5::read_superblock(file, {path, no_object});
  if (!superblock) fail_on_file(path, "an HDF5 file", "other data");
  check_bytes(file, *superblock, path, checksum);
  return std::make_shared<const hdf5::SourceFile>(path, std::move(file), *superblock);
}

}  // namespace

struct Hdf5File::State {
  State(const fs::path& path, Checksum checksum)
      : file(open_source(path, checksum)), hierarchy(file) {}

  // None when there is no such attribute.
  std::optional<hdf5::Attribute> find_attribute(hdf5::Metadata& metadata, const std::string& object,
                                                const std::string& name, const Location& location) {
    return hdf5::find_attribute(metadata, hierarchy.open(metadata, object), name, location);
  }

  std::shared_ptr<const hdf5::SourceFile> file;
  hdf5::Hierarchy hierarchy;
};

Hdf5File::Hdf5File(std::unique_ptr<State> state) : state_(std::move(state)) {}
Hdf5File::Hdf5File(const fs::path& path)
    : state_(std::make_unique<State>(path, Checksum::optional)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

Hdf5File Hdf5File::open_verified(const fs::path& path) {
  return Hdf5File(std::make_unique<State>(path, Checksum::required));
}

Hdf5File::State& Hdf5File::state() const {
  if (!state_) fail<ValueError>("Hdf5File", "an open file", "one that was moved from");
  return *state_;
}

const fs::path& Hdf5File::path() const { return state().file->path(); }

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
  return state().hierarchy.has_group(full_path(path));
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  return state().hierarchy.datasets(full_path(group));
}

Hdf5Dataset Hdf5File::dataset(const std::string& path) const {
  const std::string object = full_path(path);
  hdf5::Metadata metadata(*state().file);
  const hdf5::ObjectHeader header = state().hierarchy.open(metadata, object);
  return Hdf5Dataset(std::make_unique<Hdf5Dataset::State>(state().file, object, header));
}

template <class T>
T Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const std::string full_name = full_path(object) + " attribute " + name;
  const Location location{path(), full_name};
  hdf5::Metadata metadata(*state().file);
  const std::optional<hdf5::Attribute> found =
      state().find_attribute(metadata, full_path(object), name, location);
  if (!found) hdf5::fail_at(location, "an attribute", "none");
  return hdf5::convert_value<T>(metadata, found->type, found->shape, found->data, location);
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const std::string full_object = full_path(object);
  hdf5::Metadata metadata(*state().file);
  return state().find_attribute(metadata, full_object, name, {path(), full_object}).has_value();
}

template double Hdf5File::attribute(const std::string&, const std::string&) const;
template std::int64_t Hdf5File::attribute(const std::string&, const std::string&) const;
template std::string Hdf5File::attribute(const std::string&, const std::string&) const;

}  // namespace weft
