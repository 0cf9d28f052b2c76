#include "weft/train/files/hdf5/hdf5_writer.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "autograd/internal/checks.hpp"
#include "train/files/hdf5/internal/elements.hpp"
#include "train/files/hdf5/internal/library.hpp"
#include "train/files/hdf5/internal/objects.hpp"
#include "train/files/internal/checksummed_file.hpp"
#include "train/files/internal/file_descriptor.hpp"

namespace weft {
namespace fs = std::filesystem;
using hdf5::checked;
using hdf5::checked_handle;
using hdf5::Handle;
using hdf5::LibraryLock;
using hdf5::Location;

namespace {

// Returns a 16-bit floating-point type, which the library does not predefine.
Handle half_type(std::size_t exponent_bits, std::size_t mantissa_bits, std::size_t bias) {
  Handle type(H5Tcopy(H5T_IEEE_F32LE));
  H5Tset_fields(type, 15, mantissa_bits, exponent_bits, 0, mantissa_bits);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, bias);
  return type;
}

// The size from which an attribute does not fit into the header of its object, with some reserve.
constexpr std::size_t max_attribute_bytes = 64'000;

// Returns the type in the file. All supported machines are little-endian.
template <class T>
Handle file_type(StorageType type = StorageType::same) {
  if constexpr (std::is_same_v<T, std::int32_t>) return Handle(H5Tcopy(H5T_STD_I32LE));
  if constexpr (std::is_same_v<T, std::int64_t>) return Handle(H5Tcopy(H5T_STD_I64LE));
  if (type == StorageType::float16) return half_type(5, 10, 15);
  if (type == StorageType::bfloat16) return half_type(8, 7, 127);
  if (type == StorageType::same)
    type = std::is_same_v<T, float> ? StorageType::float32 : StorageType::float64;
  return Handle(H5Tcopy(type == StorageType::float32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE));
}

// The element of a dataset or attribute with one element.
struct Scalar {
  Handle type;
  const void* data;
};

template <class T>
Scalar scalar(const T& value, const Location&) {
  return {file_type<T>(), &value};
}

Scalar scalar(const std::string& text, const Location& location) {
  if (text.find('\0') != std::string::npos)
    fail<ValueError>(location.text(), "a string without NUL", "a string with NUL");
  if (text.size() >= Hdf5File::max_text_bytes)
    fail<ValueError>(location.text(),
                     str_cat("a string of fewer than ", Hdf5File::max_text_bytes, " bytes"),
                     text.size());
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, text.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return {std::move(type), text.c_str()};
}

}  // namespace

struct Hdf5Writer::State {
  explicit State(const fs::path& file_path) : path(file_path) {
    check_path(path);
    const LibraryLock lock;
    const Location location{path};
    link_properties = checked_handle(H5Pcreate(H5P_LINK_CREATE), location, "memory");
    dataset_properties = checked_handle(H5Pcreate(H5P_DATASET_CREATE), location, "memory");
    H5Pset_create_intermediate_group(link_properties, 1);
    H5Pset_obj_track_times(dataset_properties, false);
    // Allocates space when a dataset is created, without filling it; `save` writes the elements.
    H5Pset_alloc_time(dataset_properties, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(dataset_properties, H5D_FILL_TIME_NEVER);
    file = hdf5::create_file(image, location);
  }
  // Freezes the image, so that closing the file does not change it and cannot fail.
  ~State() { image->freeze(); }

  void check_unfinished(const Location& location) const {
    if (finished) fail<ValueError>(location.text(), "a file that is not yet saved", "a saved file");
  }

  // Creates a dataset and missing groups.
  Handle create(const Location& location, hid_t type, std::span<const hsize_t> sizes) {
    check_unfinished(location);
    hdf5::check_new_dataset(location);
    const Handle space = checked_handle(
        sizes.empty() ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
        location, "a shape");
    return checked_handle(H5Dcreate2(file, std::string(location.object).c_str(), type, space,
                                     link_properties, dataset_properties, H5P_DEFAULT),
                          location, "a new dataset");
  }

  // Appends the elements of a tensor.
  using Sink = std::function<void(hdf5::Bytes)>;
  using Write = std::function<void(const Sink&, const Location&)>;

  // Creates a dataset for elements that `write` appends later.
  void reserve(std::string object, const Handle& type, const Shape& shape, Write write) {
    const Location location{path, object};
    const Handle dataset = create(location, type, std::vector<hsize_t>(shape.begin(), shape.end()));
    if (shape.elements() == 0) return;
    const haddr_t address = H5Dget_offset(dataset);
    if (address == HADDR_UNDEF) hdf5::fail_with_hdf5(location, "space in the file");
    tensors.push_back({address, std::move(object), std::move(write)});
  }

  // Completes everything except the tensors. Does nothing after the first call.
  void finish() {
    if (finished) return;
    const LibraryLock lock;
    checked(H5Fflush(file, H5F_SCOPE_LOCAL), Location{path}, "memory for the file");
    if (image->is_incomplete()) throw std::bad_alloc();
    image->freeze();
    std::ranges::sort(tensors, {}, &ReservedTensor::address);
    finished = true;
  }

  // Passes all bytes of the file to `sink`, in order.
  void write_to(const Sink& sink) {
    finish();
    std::uint64_t size = 0;
    const Sink counted = [&](hdf5::Bytes bytes) {
      sink(bytes);
      size += bytes.size();
    };
    const auto add_structure = [&](std::uint64_t end) {
      while (size < end) {
        std::array<std::byte, 4096> bytes;
        const auto part = std::span(bytes).first(std::min(bytes.size(), end - size));
        image->read(size, part);
        counted(part);
      }
    };
    for (const auto& [address, object, write] : tensors) {
      add_structure(address);
      write(counted, Location{path, object});
    }
    add_structure(image->size());
  }

  struct ReservedTensor {
    haddr_t address;
    std::string object;
    Write write;
  };

  fs::path path;
  std::shared_ptr<hdf5::FileImage> image = std::make_shared<hdf5::FileImage>();
  std::vector<ReservedTensor> tensors;
  bool finished = false;
  Handle file;
  Handle link_properties;
  Handle dataset_properties;
};

Hdf5Writer::Hdf5Writer(const fs::path& path) : state_(std::make_unique<State>(path)) {}
Hdf5Writer::Hdf5Writer(Hdf5Writer&&) noexcept = default;
Hdf5Writer& Hdf5Writer::operator=(Hdf5Writer&&) noexcept = default;
Hdf5Writer::~Hdf5Writer() = default;

Hdf5Writer::State& Hdf5Writer::state() const {
  if (!state_) fail<ValueError>("Hdf5Writer", "an open file", "a moved-from writer");
  return *state_;
}

template <class T>
void Hdf5Writer::tensor(const std::string& dataset, const Tensor<T>& tensor, StorageType type) {
  this->tensor<T>(
      dataset, tensor.shape(), [tensor] { return tensor; }, type);
}

template <class T>
void Hdf5Writer::tensor(const std::string& dataset, const Shape& shape,
                        std::function<Tensor<T>()> make, StorageType type) {
  check_function("Hdf5Writer: " + dataset, make);
  const LibraryLock lock;
  state().reserve(
      Hdf5File::full_path(dataset), file_type<T>(type), shape,
      [shape, make = std::move(make), type](const State::Sink& sink, const Location& location) {
        const Tensor<T> made = make();
        if (made.shape() != shape)
          fail<ShapeError>(location.text(), str_cat("a tensor of shape ", shape), made.shape());
        hdf5::store_elements(made, type, location, sink);
      });
}

template <class T>
void Hdf5Writer::value(const std::string& dataset, const T& value) {
  const LibraryLock lock;
  const std::string object = Hdf5File::full_path(dataset);
  const Location location{state().path, object};
  const Scalar element = scalar(value, location);
  const Handle created = state().create(location, element.type, {});
  checked(H5Dwrite(created, element.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, element.data), location,
          "data that can be written");
}

void Hdf5Writer::group(const std::string& group) {
  const LibraryLock lock;
  const std::string object = Hdf5File::full_path(group);
  const Location location{state().path, object};
  state().check_unfinished(location);
  hdf5::check_new_dataset(location);
  checked_handle(
      H5Gcreate2(state().file, object.c_str(), state().link_properties, H5P_DEFAULT, H5P_DEFAULT),
      location, "a new group");
}

template <class T>
void Hdf5Writer::attribute(const std::string& object, const std::string& name, const T& value) {
  const LibraryLock lock;
  const Location location{state().path, name};
  state().check_unfinished(location);
  if (name.empty() || printable(name) != name)
    fail<ValueError>(location.text(), "a printable name of an attribute",
                     str_cat('\'', name, '\''));
  const auto write = [&](const Handle& type, const Handle& space, const void* data) {
    const Handle attribute = checked_handle(
        H5Acreate_by_name(state().file, Hdf5File::full_path(object).c_str(), name.c_str(), type,
                          space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        location, "a new attribute of an existing object");
    checked(H5Awrite(attribute, type, data), location, "an attribute to write");
  };
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    // Strings of equal length, as NumPy stores a list.
    std::size_t longest = 0;
    for (const std::string& text : value) longest = std::max(longest, text.size() + 1);
    std::string strings;
    for (const std::string& text : value) {
      scalar(text, location);  // checks it
      strings += text;
      strings.resize(strings.size() + longest - text.size(), '\0');
    }
    if (strings.size() >= max_attribute_bytes)
      fail<ValueError>(location.text(),
                       str_cat("strings of fewer than ", max_attribute_bytes, " bytes in all"),
                       strings.size());
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, std::max<std::size_t>(longest, 1));
    H5Tset_cset(type, H5T_CSET_UTF8);
    const hsize_t count = value.size();
    write(type, checked_handle(H5Screate_simple(1, &count, nullptr), location, "memory"),
          strings.data());
  } else if constexpr (std::is_same_v<T, std::string>) {
    const Scalar element = scalar(value, location);
    if (value.size() < max_attribute_bytes)
      return write(element.type, Handle(H5Screate(H5S_SCALAR)), element.data);
    // A longer string does not fit into the header of the object.
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const char* text = value.c_str();
    write(type, Handle(H5Screate(H5S_SCALAR)), &text);
  } else {
    const Scalar element = scalar(value, location);
    write(element.type, Handle(H5Screate(H5S_SCALAR)), element.data);
  }
}

void Hdf5Writer::save() {
  ChecksummedFile file(state().path);
  state().write_to([&](hdf5::Bytes bytes) { file.write(bytes); });
  file.commit();
}

std::string Hdf5Writer::bytes() {
  std::string bytes;
  state().write_to([&](hdf5::Bytes part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  return bytes;
}

template void Hdf5Writer::tensor(const std::string&, const Tensor<float>&, StorageType);
template void Hdf5Writer::tensor(const std::string&, const Tensor<double>&, StorageType);
template void Hdf5Writer::tensor(const std::string&, const Tensor<std::int32_t>&, StorageType);
template void Hdf5Writer::tensor(const std::string&, const Shape&, std::function<Tensor<float>()>,
                                 StorageType);
template void Hdf5Writer::tensor(const std::string&, const Shape&, std::function<Tensor<double>()>,
                                 StorageType);
template void Hdf5Writer::value(const std::string&, const double&);
template void Hdf5Writer::value(const std::string&, const std::int64_t&);
template void Hdf5Writer::value(const std::string&, const std::string&);
template void Hdf5Writer::attribute(const std::string&, const std::string&, const double&);
template void Hdf5Writer::attribute(const std::string&, const std::string&, const std::int64_t&);
template void Hdf5Writer::attribute(const std::string&, const std::string&, const std::string&);
template void Hdf5Writer::attribute(const std::string&, const std::string&,
                                    const std::vector<std::string>&);

}  // namespace weft
