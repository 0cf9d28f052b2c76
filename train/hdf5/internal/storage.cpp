#include "train/hdf5/internal/storage.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "weft/train/hdf5/hdf5_file.hpp"

namespace weft::hdf5 {
namespace {

constexpr hsize_t fletcher32_bytes = 4;
using Bytes = std::span<unsigned char>;

std::vector<H5Z_filter_t> filters_of(hid_t properties, const Location& location) {
  const int count = checked(H5Pget_nfilters(properties), location, "a list of filters");
  std::vector<H5Z_filter_t> filters;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    filters.push_back(
        checked(H5Pget_filter2(properties, i, &flags, &values, nullptr, 0, nullptr, nullptr),
                location, "a list of filters"));
  }
  return filters;
}

// The number of bytes that a zlib stream inflates to; it stops counting past `limit`.
hsize_t inflated_size(Bytes compressed, hsize_t limit) {
  std::array<unsigned char, 32'768> window;
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = compressed.data();
  stream.avail_in = static_cast<uInt>(compressed.size());
  hsize_t size = 0;
  int status = Z_OK;
  while (status == Z_OK && size <= limit) {
    stream.next_out = window.data();
    stream.avail_out = window.size();
    status = ::inflate(&stream, Z_NO_FLUSH);
    size += window.size() - stream.avail_out;
  }
  ::inflateEnd(&stream);
  return size;
}

// The size in bytes of a dataset's elements in the file, without filters.
hsize_t data_size(hid_t dataset, const Shape& shape, const Location& location) {
  constexpr hsize_t limit = hsize_t{1} << 44;
  const Handle type = checked_handle(H5Dget_type(dataset), location, "a type");
  // A string of variable length is stored as a reference of 16 bytes.
  const hsize_t element = H5Tis_variable_str(type) > 0 ? 16 : H5Tget_size(type);
  const auto count = static_cast<hsize_t>(shape.elements());
  if (element == 0 || count > limit / element)
    fail_at(location, "at most 16 TiB",
            concatenate_text(count, " elements of ", element, " bytes"));
  return count * element;
}

// A chunked dataset's grid of chunks, each visited once.
class Chunks {
 public:
  Chunks(hid_t dataset, hid_t properties, const Shape& shape, const Location& location)
      : dataset_(dataset),
        shape_(shape),
        location_(location),
        filters_(filters_of(properties, location)) {
    checked(H5Pget_chunk(properties, static_cast<int>(shape.rank()), sizes_.data()), location,
            "a chunk size");
    const hsize_t data_bytes = data_size(dataset, shape, location);
    const hsize_t limit = 16 * data_bytes + (hsize_t{16} << 20);
    bytes_ = data_bytes / static_cast<hsize_t>(shape.elements());
    count_ = 1;
    for (Index axis = 0; axis < shape.rank(); ++axis) {
      const hsize_t size = sizes_[static_cast<std::size_t>(axis)];
      if (size == 0) fail_at(location, "chunks of at least one element", "empty ones");
      const hsize_t along_axis = (static_cast<hsize_t>(shape[axis]) - 1) / size + 1;
      if (along_axis > Hdf5File::max_chunks / count_ || size > limit / bytes_)
        fail_with_chunks(data_bytes);
      count_ *= along_axis;
      bytes_ *= size;
    }
    if (bytes_ > limit / count_) fail_with_chunks(data_bytes);
  }

  void check() {
    hsize_t written = 0;
    const Handle space = checked_handle(H5Dget_space(dataset_), location_, "a shape");
    checked(H5Dget_num_chunks(dataset_, space, &written), location_, "chunks of data");
    if (written != count_)
      fail_at(location_, concatenate_text("all ", count_, " chunks"),
              concatenate_text(written, " that were written"));
    std::array<hsize_t, Shape::max_rank> offset{};
    do check(offset.data());
    while (advance(offset));
  }

 private:
  [[noreturn]] void fail_with_chunks(hsize_t data_bytes) const {
    fail_at(location_,
            concatenate_text("at most ", Hdf5File::max_chunks, " chunks, in proportion to ",
                             data_bytes, " bytes of data"),
            "too many or too large chunks");
  }

  // The next chunk in row-major order; false after the last.
  bool advance(std::array<hsize_t, Shape::max_rank>& offset) const {
    for (Index axis = shape_.rank() - 1; axis >= 0; --axis) {
      const auto i = static_cast<std::size_t>(axis);
      offset[i] += sizes_[i];
      if (offset[i] < static_cast<hsize_t>(shape_[axis])) return true;
      offset[i] = 0;
    }
    return false;
  }

  void check(const hsize_t* offset) {
    hsize_t stored = 0;
    checked(H5Dget_chunk_storage_size(dataset_, offset, &stored), location_, "chunks of data");
    if (filters_.empty()) return;
    if (stored > 2 * bytes_ + 1024)
      fail_at(location_, concatenate_text("chunks of ", bytes_, " bytes"),
              concatenate_text("one stored in ", stored));
    buffer_.resize(stored);
    std::uint32_t skipped = 0;
    checked(H5Dread_chunk(dataset_, H5P_DEFAULT, offset, &skipped, buffer_.data()), location_,
            "chunks that can be read");
    check(Bytes(buffer_), skipped);
  }

  // `stored` is the output of the filters, applied in order except for the skipped ones.
  void check(Bytes stored, std::uint32_t skipped) const {
    hsize_t expected = bytes_;
    bool compressed = false;
    for (std::size_t i = 0; i < filters_.size(); ++i) {
      if (skipped >> i & 1) continue;
      if (filters_[i] == H5Z_FILTER_DEFLATE) compressed = true;
      if (filters_[i] != H5Z_FILTER_FLETCHER32) continue;
      if (!compressed)
        expected += fletcher32_bytes;
      else if (stored.size() >= fletcher32_bytes)
        stored = stored.first(stored.size() - fletcher32_bytes);
    }
    const hsize_t found = compressed ? inflated_size(stored, expected) : stored.size();
    if (found != expected)
      fail_at(location_, concatenate_text("chunks of ", expected, " bytes"),
              found > expected ? "a larger one" : "a smaller one");
  }

  hid_t dataset_;
  const Shape& shape_;
  const Location& location_;
  std::vector<H5Z_filter_t> filters_;
  std::array<hsize_t, Shape::max_rank> sizes_{};
  hsize_t count_ = 0;
  hsize_t bytes_ = 0;  // of a chunk before the filters
  std::vector<unsigned char> buffer_;
};

}  // namespace

void check_layout(hid_t properties, const Location& location) {
  if (H5Pget_layout(properties) == H5D_VIRTUAL)
    fail_at(location, "data in the file itself", "a virtual dataset");
  if (checked(H5Pget_external_count(properties), location, "a layout") > 0)
    fail_at(location, "data in the file itself", "a dataset with its data in another file");
  const std::vector<H5Z_filter_t> filters = filters_of(properties, location);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const H5Z_filter_t filter = filters[i];
    const bool built_in = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                          filter == H5Z_FILTER_FLETCHER32;
    if (!built_in || std::find(filters.begin(), filters.begin() + i, filter) != filters.begin() + i)
      fail_at(location, "no filters except deflate, shuffle and fletcher32, each once",
              concatenate_text("filter ", filter, " at position ", i));
  }
}

void check_storage(hid_t dataset, const Shape& shape, const Location& location) {
  if (shape.elements() == 0) return;
  const Handle properties = checked_handle(H5Dget_create_plist(dataset), location, "a layout");
  if (H5Pget_layout(properties) == H5D_CHUNKED)
    return Chunks(dataset, properties, shape, location).check();
  const hsize_t expected = data_size(dataset, shape, location);
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  checked(H5Dget_space_status(dataset, &status), location, "data");
  if (status != H5D_SPACE_STATUS_ALLOCATED)
    fail_at(location, "data", "a dataset that was never written");
  const Handle file = checked_handle(H5Iget_file_id(dataset), location, "a file");
  hsize_t file_bytes = 0;
  checked(H5Fget_filesize(file, &file_bytes), location, "a file size");
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (stored != expected || stored > file_bytes)
    fail_at(location, concatenate_text(expected, " bytes of data"),
            concatenate_text(stored, " in a file of ", file_bytes));
}

}  // namespace weft::hdf5
