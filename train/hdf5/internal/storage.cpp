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

std::vector<H5Z_filter_t> filters_of(hid_t properties, const Place& place) {
  const int count = checked(H5Pget_nfilters(properties), place, "a list of filters");
  std::vector<H5Z_filter_t> filters;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    unsigned flags = 0;
    std::size_t values = 0;
    filters.push_back(
        checked(H5Pget_filter2(properties, i, &flags, &values, nullptr, 0, nullptr, nullptr), place,
                "a list of filters"));
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

// The bytes of a dataset's elements, as the file keeps them without filters.
hsize_t data_size(hid_t dataset, const Shape& shape, const Place& place) {
  constexpr hsize_t limit = hsize_t{1} << 44;
  const Handle type = checked_handle(H5Dget_type(dataset), place, "a type");
  // A text of variable length is 16 bytes that say where it is.
  const hsize_t element = H5Tis_variable_str(type) > 0 ? 16 : H5Tget_size(type);
  const auto count = static_cast<hsize_t>(shape.elements());
  if (element == 0 || count > limit / element)
    refuse(place, "at most 16 TiB", concatenate_text(count, " elements of ", element, " bytes"));
  return count * element;
}

// A chunked dataset's grid of chunks, each visited once.
class Chunks {
 public:
  Chunks(hid_t dataset, hid_t properties, const Shape& shape, const Place& place)
      : dataset_(dataset), shape_(shape), place_(place), filters_(filters_of(properties, place)) {
    checked(H5Pget_chunk(properties, static_cast<int>(shape.rank()), sizes_.data()), place,
            "a chunk size");
    const hsize_t data_bytes = data_size(dataset, shape, place);
    const hsize_t limit = 16 * data_bytes + (hsize_t{16} << 20);
    bytes_ = data_bytes / static_cast<hsize_t>(shape.elements());
    count_ = 1;
    for (Index axis = 0; axis < shape.rank(); ++axis) {
      const hsize_t size = sizes_[static_cast<std::size_t>(axis)];
      const hsize_t along_axis = (static_cast<hsize_t>(shape[axis]) - 1) / size + 1;
      if (along_axis > Hdf5File::max_chunks / count_ || size > limit / bytes_)
        refuse_chunks(data_bytes);
      count_ *= along_axis;
      bytes_ *= size;
    }
    if (bytes_ > limit / count_) refuse_chunks(data_bytes);
  }

  void check() {
    hsize_t written = 0;
    const Handle space = checked_handle(H5Dget_space(dataset_), place_, "a shape");
    checked(H5Dget_num_chunks(dataset_, space, &written), place_, "chunks of data");
    if (written != count_)
      refuse(place_, concatenate_text("all of its ", count_, " chunks"),
             concatenate_text(written, " that were ever written"));
    std::array<hsize_t, Shape::max_rank> offset{};
    do check(offset.data());
    while (advance(offset));
  }

 private:
  [[noreturn]] void refuse_chunks(hsize_t data_bytes) const {
    refuse(place_,
           concatenate_text("at most ", Hdf5File::max_chunks, " chunks, in proportion to ",
                            data_bytes, " bytes of data"),
           "chunks that are too many or too large");
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
    checked(H5Dget_chunk_storage_size(dataset_, offset, &stored), place_, "chunks of data");
    if (filters_.empty()) return;
    if (stored > 2 * bytes_ + 1024)
      refuse(place_, concatenate_text("chunks of ", bytes_, " bytes"),
             concatenate_text("one stored in ", stored));
    buffer_.resize(stored);
    std::uint32_t skipped = 0;
    checked(H5Dread_chunk(dataset_, H5P_DEFAULT, offset, &skipped, buffer_.data()), place_,
            "chunks that can be read");
    check(Bytes(buffer_), skipped);
  }

  // `stored` went through the filters in their order, but for the skipped ones.
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
      refuse(place_, concatenate_text("chunks of ", expected, " bytes"),
             concatenate_text("one of ", found > expected ? "more" : "fewer"));
  }

  hid_t dataset_;
  const Shape& shape_;
  const Place& place_;
  std::vector<H5Z_filter_t> filters_;
  std::array<hsize_t, Shape::max_rank> sizes_{};
  hsize_t count_ = 0;
  hsize_t bytes_ = 0;  // of a chunk before the filters
  std::vector<unsigned char> buffer_;
};

}  // namespace

void check_layout(hid_t properties, const Place& place) {
  if (H5Pget_layout(properties) == H5D_VIRTUAL)
    refuse(place, "data in the file itself",
           "a virtual dataset, which is put together from others");
  if (checked(H5Pget_external_count(properties), place, "a layout") > 0)
    refuse(place, "data in the file itself", "a dataset with its data in another file");
  const std::vector<H5Z_filter_t> filters = filters_of(properties, place);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const H5Z_filter_t filter = filters[i];
    const bool built_in = filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE ||
                          filter == H5Z_FILTER_FLETCHER32;
    if (!built_in || std::find(filters.begin(), filters.begin() + i, filter) != filters.begin() + i)
      refuse(place, "no filters but deflate, shuffle and fletcher32, each once",
             concatenate_text("filter ", filter, " at position ", i));
  }
}

void check_storage(hid_t dataset, const Shape& shape, const Place& place) {
  if (shape.elements() == 0) return;
  const Handle properties = checked_handle(H5Dget_create_plist(dataset), place, "a layout");
  if (H5Pget_layout(properties) == H5D_CHUNKED)
    return Chunks(dataset, properties, shape, place).check();
  const hsize_t expected = data_size(dataset, shape, place);
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  checked(H5Dget_space_status(dataset, &status), place, "data");
  if (status != H5D_SPACE_STATUS_ALLOCATED)
    refuse(place, "data", "a dataset that was never written");
  const Handle file = checked_handle(H5Iget_file_id(dataset), place, "a file");
  hsize_t file_bytes = 0;
  checked(H5Fget_filesize(file, &file_bytes), place, "a file size");
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (stored != expected || stored > file_bytes)
    refuse(place, concatenate_text(expected, " bytes of data"),
           concatenate_text(stored, " in a file of ", file_bytes));
}

}  // namespace weft::hdf5
