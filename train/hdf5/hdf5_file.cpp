#include "weft/train/hdf5/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "train/files/checksum_line.hpp"
#include "train/hdf5/internal/dataset_state.hpp"
#include "train/hdf5/internal/elements.hpp"
#include "train/hdf5/internal/file_bytes.hpp"
#include "train/hdf5/internal/hierarchy.hpp"
#include "train/hdf5/internal/superblock.hpp"

namespace weft {
namespace fs = std::filesystem;

using hdf5::checked;
using hdf5::checked_handle;
using hdf5::Handle;
using hdf5::LibraryLock;
using hdf5::Location;

namespace {

void check_regular(const fs::path& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode))
    fail_on_file(path, "a regular file",
                 S_ISDIR(status.st_mode) ? "a directory" : "a device, pipe or socket");
}

FileDescriptor open_regular(const fs::path& path) {
  check_path(path);
  struct stat status {};
  // Opening a device may have effects.
  if (::stat(path.c_str(), &status) == 0) check_regular(path, status);
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid() || ::fstat(file.get(), &status) != 0)
    fail_with_errno(path, "a file that can be read");
  check_regular(path, status);
  if (status.st_size == 0) fail_on_file(path, "an HDF5 file", "an empty file");
  if (!file.lock_shared())
    fail_on_file(path, "a complete file", "one that another process is writing");
  return file;
}

enum class Checksum { optional, required };

// Throws when the checksum is wrong, or when there is none and one is required.
void check_bytes(const hdf5::OpenFile& file, const fs::path& path, Checksum checksum) {
  if (!has_checksum_line(file.descriptor(), path)) {
    if (checksum == Checksum::required)
      fail_on_file(path, "a file of weft with its checksum in the last line",
                   "one without (truncated, or written by another program)");
    return;
  }
  // The checksum takes time in proportion to the size of the file, which should be that of its
  // data.
  const std::optional<std::uint64_t> size = size_in_superblock(file);
  if (!size) fail_on_file(path, "an HDF5 file", "other data");
  if (const std::uint64_t contents = file.size() - checksum_line_size; *size != contents)
    fail_on_file(path,
                 concatenate_text("an HDF5 file of ", contents, " bytes before the checksum line"),
                 concatenate_text("one of ", *size));
  verify_checksum_line(file.descriptor(), path);
}

hsize_t attribute_bytes(hid_t object, const Location& location) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_native_info_t info;
  checked(H5Oget_native_info(object, &info, H5O_NATIVE_INFO_META_SIZE), location, "an object");
#else
  H5O_info_t info;
  checked(H5Oget_info2(object, &info, H5O_INFO_META_SIZE), location, "an object");
#endif
  return info.meta_size.attr.heap_size;
}

}  // namespace

struct Hdf5File::State {
  State(const fs::path& file_path, Checksum checksum) : path(file_path) {
    const auto bytes = std::make_shared<hdf5::OpenFile>(open_regular(path));
    check_bytes(*bytes, path, checksum);
    const LibraryLock lock;
    const std::string no_object;
    file = hdf5::open_file(bytes, {path, no_object});
    hierarchy.emplace(path, file);
  }

  // Returns an invalid handle when there is no such attribute.
  Handle open_attribute(const std::string& object, const std::string& name) {
    const Location location{path, object};
    const Handle handle = hierarchy->open(object);
    if (name.empty() || name.find('\0') != std::string::npos) return Handle();
    // The library reads an attribute when opening it.
    if (const hsize_t bytes = attribute_bytes(handle, location); bytes > max_text_bytes)
      hdf5::fail_at(location, concatenate_text("at most ", max_text_bytes, " bytes of attributes"),
                    bytes);
    if (checked(H5Aexists(handle, name.c_str()), location, "attributes") == 0) return Handle();
    return checked_handle(H5Aopen(handle, name.c_str(), H5P_DEFAULT), location, "attributes");
  }

  fs::path path;
  Handle file;
  std::optional<hdf5::Hierarchy> hierarchy;
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

const fs::path& Hdf5File::path() const { return state().path; }

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
  const LibraryLock lock;
  return state().hierarchy->has_group(full_path(path));
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  const LibraryLock lock;
  return state().hierarchy->datasets(full_path(group));
}

Hdf5Dataset Hdf5File::dataset(const std::string& path) const {
  const LibraryLock lock;
  const std::string object = full_path(path);
  return Hdf5Dataset(
      std::make_unique<Hdf5Dataset::State>(state().path, object, state().hierarchy->open(object)));
}

template <class T>
T Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const LibraryLock lock;
  const std::string full_name = full_path(object) + " attribute " + name;
  const Location location{state().path, full_name};
  const Handle attribute = state().open_attribute(full_path(object), name);
  if (attribute < 0) hdf5::fail_at(location, "an attribute", "none");
  const Handle space = checked_handle(H5Aget_space(attribute), location, "a shape");
  return hdf5::read_value<T>({location, checked_handle(H5Aget_type(attribute), location, "a type"),
                              hdf5::shape_of(space, location), [&](hid_t memory_type, void* data) {
                                return H5Aread(attribute, memory_type, data);
                              }});
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const LibraryLock lock;
  return state().open_attribute(full_path(object), name) >= 0;
}

template double Hdf5File::attribute(const std::string&, const std::string&) const;
template std::int64_t Hdf5File::attribute(const std::string&, const std::string&) const;
template std::string Hdf5File::attribute(const std::string&, const std::string&) const;

}  // namespace weft
