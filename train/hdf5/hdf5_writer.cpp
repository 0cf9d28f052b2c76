#include "weft/train/hdf5/hdf5_writer.hpp"

#include <atomic>
#include <cstring>
#include <span>
#include <unordered_map>
#include <vector>

#include "train/files/atomic_file.hpp"
#include "train/files/checksum_line.hpp"
#include "train/hdf5/internal/handle.hpp"

namespace weft {
namespace fs = std::filesystem;
using hdf5::checked;
using hdf5::checked_handle;
using hdf5::Handle;
using hdf5::LibraryLock;
using hdf5::Location;

namespace {

// The type in memory and in the file; all supported machines are little-endian.
template <class T>
Handle element_type() {
  if constexpr (std::is_same_v<T, float>) return Handle(H5Tcopy(H5T_IEEE_F32LE));
  if constexpr (std::is_same_v<T, double>) return Handle(H5Tcopy(H5T_IEEE_F64LE));
  if constexpr (std::is_same_v<T, std::int64_t>) return Handle(H5Tcopy(H5T_STD_I64LE));
}

// The one element of a dataset or attribute.
struct Scalar {
  Handle type;
  const void* data;
};

template <class T>
Scalar scalar(const T& value, const Location&) {
  return {element_type<T>(), &value};
}

Scalar scalar(const std::string& text, const Location& location) {
  if (text.find('\0') != std::string::npos)
    fail<ValueError>(location.text(), "a string without NUL", "one with NUL");
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, text.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return {std::move(type), text.c_str()};
}

Handle new_file(const Location& location) {
  const Handle access = checked_handle(H5Pcreate(H5P_FILE_ACCESS), location, "memory");
  constexpr std::size_t growth = std::size_t{4} << 20;
  checked(H5Pset_fapl_core(access, growth, false), location, "memory");
  const Handle creation = checked_handle(H5Pcreate(H5P_FILE_CREATE), location, "memory");
  H5Pset_obj_track_times(creation, false);
  // The library identifies files in memory by their names.
  static std::atomic<std::uint64_t> count{0};
  const std::string name = concatenate_text("weft in memory ", count++);
  return checked_handle(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation, access), location,
                        "a new file");
}

}  // namespace

struct Hdf5Writer::State {
  explicit State(const fs::path& file_path) : path(file_path) {
    const LibraryLock lock;
    const std::string no_object;
    file = new_file({path, no_object});
    group_properties = Handle(H5Pcreate(H5P_GROUP_CREATE));
    dataset_properties = Handle(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_obj_track_times(group_properties, false);
    H5Pset_obj_track_times(dataset_properties, false);
  }
  ~State() {
    const LibraryLock lock;
    groups.clear();
    dataset_properties = Handle();
    group_properties = Handle();
    file = Handle();
  }

  // The group at a path, created if missing; the root for "".
  hid_t group(const std::string& group_path) {
    if (group_path.empty()) return file;
    if (const auto existing = groups.find(group_path); existing != groups.end())
      return existing->second;
    const std::size_t slash = group_path.rfind('/');
    Handle created = checked_handle(
        H5Gcreate2(group(group_path.substr(0, slash)), group_path.c_str() + slash + 1, H5P_DEFAULT,
                   group_properties, H5P_DEFAULT),
        Location{path, group_path}, "a new group");
    return groups.emplace(group_path, std::move(created)).first->second;
  }

  void write(const Location& location, hid_t type, std::span<const hsize_t> sizes,
             const void* data) {
    const std::size_t slash = location.object.rfind('/');
    const hid_t parent = group(location.object.substr(0, slash));
    const Handle space(
        sizes.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr));
    const Handle dataset =
        checked_handle(H5Dcreate2(parent, location.object.c_str() + slash + 1, type, space,
                                  H5P_DEFAULT, dataset_properties, H5P_DEFAULT),
                       location, "a new dataset");
    checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), location,
            "data that can be written");
  }

  fs::path path;
  Handle file;
  Handle group_properties;
  Handle dataset_properties;
  std::unordered_map<std::string, Handle> groups;
};

Hdf5Writer::Hdf5Writer(const fs::path& path) : state_(std::make_unique<State>(path)) {}
Hdf5Writer::Hdf5Writer(Hdf5Writer&&) noexcept = default;
Hdf5Writer& Hdf5Writer::operator=(Hdf5Writer&&) noexcept = default;
Hdf5Writer::~Hdf5Writer() = default;

template <class T>
void Hdf5Writer::tensor(const std::string& dataset, const Tensor<T>& tensor) {
  const LibraryLock lock;
  const std::vector<hsize_t> sizes(tensor.shape().begin(), tensor.shape().end());
  state_->write({state_->path, dataset}, element_type<T>(), sizes, tensor.data());
}

template <class T>
void Hdf5Writer::value(const std::string& dataset, const T& value) {
  const LibraryLock lock;
  const Location location{state_->path, dataset};
  const Scalar element = scalar(value, location);
  state_->write(location, element.type, {}, element.data);
}

template <class T>
void Hdf5Writer::attribute(const std::string& name, const T& value) {
  const LibraryLock lock;
  const Location location{state_->path, name};
  const Scalar element = scalar(value, location);
  const Handle space(H5Screate(H5S_SCALAR));
  const Handle attribute = checked_handle(
      H5Acreate2(state_->file, name.c_str(), element.type, space, H5P_DEFAULT, H5P_DEFAULT),
      location, "a new attribute");
  checked(H5Awrite(attribute, element.type, element.data), location, "an attribute to write");
}

void Hdf5Writer::save() {
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0;
  {
    const LibraryLock lock;
    const std::string no_object;
    const Location location{state_->path, no_object};
    checked(H5Fflush(state_->file, H5F_SCOPE_LOCAL), location, "memory for the file");
    size = static_cast<std::size_t>(
        checked(H5Fget_file_image(state_->file, nullptr, 0), location, "a file in memory"));
    bytes = std::make_unique_for_overwrite<std::byte[]>(size + checksum_line_size);
    checked(H5Fget_file_image(state_->file, bytes.get(), size), location, "a file in memory");
  }
  const std::string line = checksum_line({bytes.get(), size});
  std::memcpy(bytes.get() + size, line.data(), checksum_line_size);
  write_atomically(state_->path, {bytes.get(), size + checksum_line_size});
}

template void Hdf5Writer::tensor(const std::string&, const Tensor<float>&);
template void Hdf5Writer::tensor(const std::string&, const Tensor<double>&);
template void Hdf5Writer::value(const std::string&, const double&);
template void Hdf5Writer::value(const std::string&, const std::int64_t&);
template void Hdf5Writer::value(const std::string&, const std::string&);
template void Hdf5Writer::attribute(const std::string&, const double&);
template void Hdf5Writer::attribute(const std::string&, const std::int64_t&);
template void Hdf5Writer::attribute(const std::string&, const std::string&);

}  // namespace weft
