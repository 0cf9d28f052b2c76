#include "weft/train/hdf5/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <system_error>

#include "train/files/checksum_line.hpp"
#include "train/hdf5/internal/dataset_state.hpp"
#include "train/hdf5/internal/elements.hpp"
#include "train/hdf5/internal/hierarchy.hpp"

namespace weft {
namespace fs = std::filesystem;

using hdf5::checked;
using hdf5::checked_handle;
using hdf5::Handle;
using hdf5::LibraryLock;
using hdf5::Location;

namespace {

FileDescriptor open_regular(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail_on_file(path, "a regular file",
                 fs::is_directory(status) ? "a directory" : "a device, pipe or socket");
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) fail_with_errno(path, "a file that can be read");
  if (fs::file_size(path, error) == 0) fail_on_file(path, "an HDF5 file", "an empty file");
  if (!file.lock_shared())
    fail_on_file(path, "a complete file", "one that another process is writing");
  return file;
}

bool same_file(int a, int b) {
  struct stat status_a {};
  struct stat status_b {};
  return ::fstat(a, &status_a) == 0 && ::fstat(b, &status_b) == 0 &&
         status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

// Opens `path`, which must still be the file `checked_file`.
Handle open_hdf5(const fs::path& path, const FileDescriptor& checked_file) {
  const std::string no_object;
  const Location location{path, no_object};
  const Handle access = checked_handle(H5Pcreate(H5P_FILE_ACCESS), location, "memory");
  H5Pset_fapl_sec2(access);
  Handle file = checked_handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), location,
                               "a complete HDF5 file");
  void* descriptor = nullptr;
  checked(H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor), location, "an open file");
  if (!same_file(*static_cast<const int*>(descriptor), checked_file.get()))
    fail_on_file(path, "an unchanged file", "one that was replaced while being opened");
  return file;
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
  enum class Checksum { optional, required };

  State(const fs::path& file_path, Checksum checksum) : path(file_path) {
    const LibraryLock lock;
    const FileDescriptor descriptor = open_regular(path);
    if (!verify_checksum_line(descriptor, path) && checksum == Checksum::required)
      fail_on_file(path, "a file of weft with its checksum in the last line",
                   "one without (truncated, or written by another program)");
    file = open_hdf5(path, descriptor);
    hierarchy.emplace(path, file);
  }
  ~State() {
    const LibraryLock lock;
    hierarchy.reset();
    file = Handle();
  }

  // Returns an invalid handle when there is no such attribute.
  Handle open_attribute(const std::string& object, const std::string& name) {
    const Location location{path, object};
    const Handle handle = hierarchy->open(object);
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
    : state_(std::make_unique<State>(path, State::Checksum::optional)) {}
Hdf5File::Hdf5File(Hdf5File&&) noexcept = default;
Hdf5File& Hdf5File::operator=(Hdf5File&&) noexcept = default;
Hdf5File::~Hdf5File() = default;

Hdf5File Hdf5File::open_verified(const fs::path& path) {
  return Hdf5File(std::make_unique<State>(path, State::Checksum::required));
}

const fs::path& Hdf5File::path() const { return state_->path; }

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
  return state_->hierarchy->has_group(full_path(path));
}

std::vector<std::string> Hdf5File::datasets(const std::string& group) const {
  const LibraryLock lock;
  return state_->hierarchy->datasets(full_path(group));
}

Hdf5Dataset Hdf5File::dataset(const std::string& path) const {
  const LibraryLock lock;
  const std::string object = full_path(path);
  return Hdf5Dataset(
      std::make_unique<Hdf5Dataset::State>(state_->path, object, state_->hierarchy->open(object)));
}

template <class T>
T Hdf5File::attribute(const std::string& object, const std::string& name) const {
  const LibraryLock lock;
  const std::string full_name = full_path(object) + " attribute " + name;
  const Location location{state_->path, full_name};
  const Handle attribute = state_->open_attribute(full_path(object), name);
  if (attribute < 0) hdf5::fail_at(location, "an attribute", "none");
  const Handle space = checked_handle(H5Aget_space(attribute), location, "a shape");
  return hdf5::read_value<T>({location, checked_handle(H5Aget_type(attribute), location, "a type"),
                              hdf5::shape_of(space, location), [&](hid_t memory_type, void* data) {
                                return H5Aread(attribute, memory_type, data);
                              }});
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  const LibraryLock lock;
  return state_->open_attribute(full_path(object), name) >= 0;
}

template double Hdf5File::attribute(const std::string&, const std::string&) const;
template std::int64_t Hdf5File::attribute(const std::string&, const std::string&) const;
template std::string Hdf5File::attribute(const std::string&, const std::string&) const;

}  // namespace weft
