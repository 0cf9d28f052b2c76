#include "train/files/hdf5/internal/library.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

#include <limits>
#include <new>
#include <utility>

namespace weft::hdf5 {

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

LibraryLock::LibraryLock() : lock_(library_mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  H5PLget_loading_state(&plugins_);
  H5PLset_loading_state(0);
}

LibraryLock::~LibraryLock() {
  H5PLset_loading_state(plugins_);
  H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

Handle::~Handle() {
  if (id_ < 0) return;
  const LibraryLock lock;
  H5Idec_ref(id_);
}

void fail_with_hdf5(const Location& location, const char* expected) {
  std::array<char, 512> message{};
  // The first record visited is the innermost: the cause of the error.
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned position, const H5E_error2_t* error, void* out) -> herr_t {
        auto& innermost = *static_cast<std::array<char, 512>*>(out);
        if (position == 0 && error->desc)
          std::strncpy(innermost.data(), error->desc, innermost.size() - 1);
        return 0;
      },
      &message);
  fail_at(location, expected, str_cat("an HDF5 error: ", Location::shortened(message.data())));
}

namespace {

// The library's representation of an open file.
struct DriverFile : H5FD_t {
  std::shared_ptr<FileImage> image;
  haddr_t allocated = 0;
};

DriverFile& file_of(H5FD_t* file) { return *static_cast<DriverFile*>(file); }
const DriverFile& file_of(const H5FD_t* file) { return *static_cast<const DriverFile*>(file); }
herr_t status(bool success) { return success ? 0 : -1; }

hid_t registered_driver = H5I_INVALID_HID;

// The information for the driver in a property list: the address of a shared pointer to the image.
using DriverInformation = const std::shared_ptr<FileImage>*;

H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) noexcept {
  const auto* information = static_cast<const DriverInformation*>(H5Pget_driver_info(access));
  auto* file = information ? new (std::nothrow) DriverFile() : nullptr;
  if (file) file->image = **information;
  return file;
}

herr_t close(H5FD_t* file) noexcept {
  delete &file_of(file);
  return 0;
}

// Returns the same features as the library's own driver for files in memory.
herr_t query(const H5FD_t*, unsigned long* flags) noexcept {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
           H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t allocated(const H5FD_t* file, H5FD_mem_t) noexcept { return file_of(file).allocated; }
herr_t set_allocated(H5FD_t* file, H5FD_mem_t, haddr_t size) noexcept {
  file_of(file).allocated = size;
  return 0;
}
haddr_t size(const H5FD_t* file, H5FD_mem_t) noexcept { return file_of(file).image->size(); }

herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t count,
            void* data) noexcept {
  file_of(file).image->read(offset, {static_cast<std::byte*>(data), count});
  return 0;
}
herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, std::size_t count,
             const void* data) noexcept {
  return status(file_of(file).image->write(offset, {static_cast<const std::byte*>(data), count}));
}
herr_t truncate(H5FD_t* file, hid_t, hbool_t) noexcept {
  return status(file_of(file).image->resize(file_of(file).allocated));
}

herr_t forget_driver() noexcept {
  registered_driver = H5I_INVALID_HID;
  return 0;
}

// Returns the library's identifier for the driver. The driver remains registered until the library
// is closed.
hid_t driver(const Location& location) {
  if (registered_driver >= 0) return registered_driver;
  H5FD_class_t description{};
#if H5_VERSION_GE(1, 14, 0)
  description.version = H5FD_CLASS_VERSION;
  description.value = 513;  // values from 512 on are free to use
#endif
  description.name = "weft";
  description.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
  description.fc_degree = H5F_CLOSE_WEAK;
  description.terminate = forget_driver;
  description.fapl_size = sizeof(DriverInformation);
  description.open = open;
  description.close = close;
  description.query = query;
  description.get_eoa = allocated;
  description.set_eoa = set_allocated;
  description.get_eof = size;
  description.read = read;
  description.write = write;
  description.truncate = truncate;
  constexpr H5FD_mem_t data_apart_from_metadata[] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(data_apart_from_metadata), std::end(data_apart_from_metadata),
            description.fl_map);
  registered_driver = checked(H5FDregister(&description), location, "memory");
  return registered_driver;
}

}  // namespace

void FileImage::read(std::uint64_t offset, std::span<std::byte> bytes) const noexcept {
  while (!bytes.empty()) {
    const std::uint64_t in_page = offset % std::tuple_size_v<Page>;
    const std::size_t count =
        std::min<std::uint64_t>(bytes.size(), std::tuple_size_v<Page> - in_page);
    const auto page = pages_.find(offset / std::tuple_size_v<Page>);
    if (page != pages_.end())
      std::memcpy(bytes.data(), page->second.data() + in_page, count);
    else
      std::memset(bytes.data(), 0, count);
    bytes = bytes.subspan(count);
    offset += count;
  }
}

bool FileImage::write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept try {
  if (frozen_) return true;
  constexpr std::uint64_t max_size = std::numeric_limits<std::ptrdiff_t>::max();
  if (offset > max_size || bytes.size() > max_size - offset) return false;
  size_ = std::max(size_, offset + bytes.size());
  while (!bytes.empty()) {
    const std::uint64_t in_page = offset % std::tuple_size_v<Page>;
    const std::size_t count =
        std::min<std::uint64_t>(bytes.size(), std::tuple_size_v<Page> - in_page);
    std::memcpy(pages_[offset / std::tuple_size_v<Page>].data() + in_page, bytes.data(), count);
    bytes = bytes.subspan(count);
    offset += count;
  }
  return true;
} catch (const std::bad_alloc&) {
  is_incomplete_ = frozen_ = true;
  return false;
}

bool FileImage::resize(std::uint64_t size) noexcept {
  if (!frozen_) size_ = size;
  return true;
}

Handle create_file(const std::shared_ptr<FileImage>& image, const Location& location) {
  const Handle access = checked_handle(H5Pcreate(H5P_FILE_ACCESS), location, "memory");
  const DriverInformation information = &image;
  checked(H5Pset_driver(access, driver(location), &information), location, "memory");
  // The oldest format, which every version of the library can read.
  checked(H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), location, "memory");
  const Handle creation = checked_handle(H5Pcreate(H5P_FILE_CREATE), location, "memory");
  H5Pset_obj_track_times(creation, false);
  return checked_handle(H5Fcreate("file", H5F_ACC_TRUNC, creation, access), location, "a new file");
}

}  // namespace weft::hdf5
