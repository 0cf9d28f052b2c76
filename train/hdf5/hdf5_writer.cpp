#include "weft/train/hdf5/hdf5_writer.hpp"

#include <new>
#include <span>
#include <unordered_map>
#include <vector>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/files/atomic_file.hpp"
#include "train/files/checksum_line.hpp"
#include "train/hdf5/internal/file_bytes.hpp"
#include "train/hdf5/internal/object_names.hpp"

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
  if constexpr (std::is_same_v<T, std::int32_t>) return Handle(H5Tcopy(H5T_STD_I32LE));
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
  if (text.size() >= Hdf5File::max_text_bytes)
    fail<ValueError>(location.text(),
                     concatenate_text("a string below ", Hdf5File::max_text_bytes, " bytes"),
                     text.size());
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, text.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return {std::move(type), text.c_str()};
}

void check_attribute_name(const Location& location, const std::string& name) {
  if (name.empty() || printable(name) != name)
    fail<ValueError>(location.text(), "a printable name of an attribute",
                     concatenate_text('\'', name, '\''));
}

}  // namespace

struct Hdf5Writer::State {
  explicit State(const fs::path& file_path) : path(file_path) {
    check_path(path);
    const LibraryLock lock;
    const std::string no_object;
    const Location location{path, no_object};
    file = hdf5::create_file(bytes, location);
    group_properties = checked_handle(H5Pcreate(H5P_GROUP_CREATE), location, "memory");
    dataset_properties = checked_handle(H5Pcreate(H5P_DATASET_CREATE), location, "memory");
    H5Pset_obj_track_times(group_properties, false);
    H5Pset_obj_track_times(dataset_properties, false);
  }
  ~State() { bytes->freeze(); }

  void check_unfinished(const Location& location) const {
    if (finished) fail<ValueError>(location.text(), "a file that was not saved yet", "a saved one");
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
    check_unfinished(location);
    hdf5::check_new_dataset(location);
    const std::size_t slash = location.object.rfind('/');
    const hid_t parent = group(location.object.substr(0, slash));
    const Handle space = checked_handle(
        sizes.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        location, "a shape");
    const Handle dataset =
        checked_handle(H5Dcreate2(parent, location.object.c_str() + slash + 1, type, space,
                                  H5P_DEFAULT, dataset_properties, H5P_DEFAULT),
                       location, "a new dataset");
    checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), location,
            "data that can be written");
  }

  // Completes the bytes, on the first call.
  void finish() {
    if (finished) return;
    {
      const LibraryLock lock;
      const std::string no_object;
      checked(H5Fflush(file, H5F_SCOPE_LOCAL), {path, no_object}, "memory for the file");
    }
    const std::string line = checksum_line(bytes->bytes());
    if (!bytes->write(bytes->size(), std::as_bytes(std::span(line)))) throw std::bad_alloc();
    bytes->freeze();
    finished = true;
  }

  fs::path path;
  // Closing the file, last of all handles, changes them no more.
  std::shared_ptr<hdf5::FileInMemory> bytes = std::make_shared<hdf5::FileInMemory>();
  bool finished = false;
  Handle file;
  Handle group_properties;
  Handle dataset_properties;
  std::unordered_map<std::string, Handle> groups;
};

Hdf5Writer::Hdf5Writer(const fs::path& path) : state_(std::make_unique<State>(path)) {}
Hdf5Writer::Hdf5Writer(Hdf5Writer&&) noexcept = default;
Hdf5Writer& Hdf5Writer::operator=(Hdf5Writer&&) noexcept = default;
Hdf5Writer::~Hdf5Writer() = default;

Hdf5Writer::State& Hdf5Writer::state() const {
  if (!state_) fail<ValueError>("Hdf5Writer", "an open file", "one that was moved from");
  return *state_;
}

template <class T>
void Hdf5Writer::tensor(const std::string& dataset, const Tensor<T>& tensor) {
  const LibraryLock lock;
  const std::string object = Hdf5File::full_path(dataset);
  const std::vector<hsize_t> sizes(tensor.shape().begin(), tensor.shape().end());
  state().write({state().path, object}, element_type<T>(), sizes, tensor.data());
}

template <class T>
void Hdf5Writer::value(const std::string& dataset, const T& value) {
  const LibraryLock lock;
  const std::string object = Hdf5File::full_path(dataset);
  const Location location{state().path, object};
  const Scalar element = scalar(value, location);
  state().write(location, element.type, {}, element.data);
}

template <class T>
void Hdf5Writer::attribute(const std::string& name, const T& value) {
  const LibraryLock lock;
  const Location location{state().path, name};
  state().check_unfinished(location);
  check_attribute_name(location, name);
  const Scalar element = scalar(value, location);
  const Handle space = checked_handle(H5Screate(H5S_SCALAR), location, "memory");
  const Handle attribute = checked_handle(
      H5Acreate2(state().file, name.c_str(), element.type, space, H5P_DEFAULT, H5P_DEFAULT),
      location, "a new attribute");
  checked(H5Awrite(attribute, element.type, element.data), location, "an attribute to write");
}

void Hdf5Writer::save() {
  state().finish();
  write_atomically(state().path, state().bytes->bytes());
}

template void Hdf5Writer::tensor(const std::string&, const Tensor<float>&);
template void Hdf5Writer::tensor(const std::string&, const Tensor<double>&);
template void Hdf5Writer::tensor(const std::string&, const Tensor<std::int32_t>&);
template void Hdf5Writer::value(const std::string&, const double&);
template void Hdf5Writer::value(const std::string&, const std::int64_t&);
template void Hdf5Writer::value(const std::string&, const std::string&);
template void Hdf5Writer::attribute(const std::string&, const double&);
template void Hdf5Writer::attribute(const std::string&, const std::int64_t&);
template void Hdf5Writer::attribute(const std::string&, const std::string&);

}  // namespace weft
