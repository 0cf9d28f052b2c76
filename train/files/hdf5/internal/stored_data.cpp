#include "train/files/hdf5/internal/stored_data.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "weft/autograd/parallel.hpp"
#include "weft/train/files/hdf5/hdf5_file.hpp"
#include "train/files/hdf5/internal/chunk_index.hpp"

// "The Data Storage - Fill Value Message", the newer and the older one, in the HDF5 File Format
// Specification.

// "The Data Layout Message" and "Appendix C: Types of Indexes for Dataset Chunks" in the HDF5 File
// Format Specification.

// "The Data Layout Message" in the HDF5 File Format Specification.

namespace weft::hdf5 {

FillValue::FillValue(const ObjectHeader& header) {
  constexpr unsigned never_filled = 1, undefined = 0x10, with_value = 0x20;
  bool has_value = true;
  const Message* message = header.find(MessageType::fill_value);
  const bool is_newer = message != nullptr;
  if (!is_newer) message = header.find(MessageType::older_fill_value);
  if (!message) return;
  Cursor contents = message->contents;
  if (message->shared) {
    is_defined_ = has_value = false;
  } else if (is_newer) {
    const unsigned version = contents.byte();
    if (version < 1 || version > 3) fail_with_damage("an unknown fill value");
    const unsigned flags = version == 3 ? contents.byte() : contents.short_number() >> 8 << 2;
    is_defined_ = (flags >> 2 & 3) != never_filled;
    has_value = version == 3 ? (flags & with_value) != 0 : contents.byte() != 0;
    is_defined_ &= version == 3 ? (flags & undefined) == 0 : has_value;
  }
  if (!has_value) return;
  const Bytes value = contents.take(contents.number(4));
  value_.assign(value.begin(), value.end());
}

void FillValue::check(std::uint64_t elements, std::uint64_t element_bytes) const {
  constexpr std::uint64_t max_bytes = 256 << 20;
  if (!is_defined_)
    fail_structure("stored data", "a dataset that was never written, or only in part");
  if (elements > max_bytes / element_bytes)
    fail_structure(str_cat("at most ", max_bytes, " bytes that were never written"),
                   str_cat(elements, " elements of ", element_bytes, " bytes"));
  if (!value_.empty() && value_.size() != element_bytes)
    fail_with_damage("a fill value of the wrong size");
}

void FillValue::fill(std::span<std::byte> elements) const {
  if (value_.empty())
    std::ranges::fill(elements, std::byte{0});
  else
    for (std::size_t at = 0; at < elements.size(); ++at) elements[at] = value_[at % value_.size()];
}

namespace {

constexpr std::uint64_t address_size = 8, mask_size = 4;

}  // namespace

ChunkedData::ChunkedData(Cursor layout, unsigned version, Filters filters, FillValue fill)
    : filters_(std::move(filters)), fill_(std::move(fill)) {
  constexpr unsigned edges_without_filters = 1, one_chunk_with_filters = 2;
  const unsigned flags = version == 3 ? 0 : layout.byte();
  if ((flags & edges_without_filters) != 0)
    fail_unsupported("chunks that are only partly filtered");
  const unsigned count = layout.byte();
  if (version == 3) address_ = layout.address();
  const std::size_t size_bytes = version == 3 ? 4 : layout.byte();
  if (size_bytes < 1 || size_bytes > 8) fail_with_damage("an unknown layout");
  for (unsigned i = 0; i < count; ++i) layout_sizes_.push_back(layout.number(size_bytes));
  if (version == 3) return;
  index_ = static_cast<IndexKind>(layout.byte());
  switch (index_) {
    case IndexKind::one_chunk:
      if ((flags & one_chunk_with_filters) == 0) break;
      only_.size = layout.number(8);
      only_.skipped_filters = static_cast<std::uint32_t>(layout.number(mask_size));
      break;
    case IndexKind::fixed_array:
      layout.skip(1);
      break;
    case IndexKind::extensible_array:
      layout.skip(5);
      break;
    case IndexKind::tree_2:
      layout.skip(6);
      break;
    default:
      fail_unsupported("chunks without an index");
  }
  address_ = layout.address();
}

void ChunkedData::locate(Metadata& metadata, const Extent& extent, std::uint64_t element_bytes) {
  set_grid(extent, element_bytes);
  const SourceFile& file = metadata.file();
  const auto add_entry = [&](std::uint64_t index, Cursor entry) {
    add(file, coordinates_of(index), read_entry(entry, entry.rest().size()));
  };
  if (address_ != undefined_address) {
    switch (index_) {
      case IndexKind::tree_1:
        add_from_tree_1(metadata);
        break;
      case IndexKind::one_chunk:
        add(file, {},
            {address_, filters_.empty() ? chunk_bytes_ : only_.size, only_.skipped_filters});
        break;
      case IndexKind::fixed_array:
        visit_fixed_array(metadata, address_, add_entry);
        break;
      case IndexKind::extensible_array:
        visit_extensible_array(metadata, address_, add_entry);
        break;
      case IndexKind::tree_2:
        add_from_tree_2(metadata);
        break;
    }
  }
  const auto missing = std::ranges::count(chunks_, undefined_address, &Chunk::address);
  if (missing != 0)
    fill_.check(static_cast<std::uint64_t>(missing) * (chunk_bytes_ / element_bytes),
                element_bytes);
}

void ChunkedData::set_grid(const Extent& extent, std::uint64_t element_bytes) {
  const Shape& shape = extent.shape;
  constexpr std::uint64_t max_bytes = 16 << 20, max_data = std::uint64_t{1} << 44;
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  if (elements > max_data / element_bytes)
    fail_structure("at most 16 TiB", str_cat(elements, " elements of ", element_bytes, " bytes"));
  const std::uint64_t data_bytes = elements * element_bytes;
  const auto check = [&](bool valid) {
    if (!valid)
      fail_structure(
          str_cat("at most ", Hdf5File::max_chunks, " chunks of at most 16 MiB, in proportion to ",
                  data_bytes, " bytes of data"),
          "too many or too large chunks");
  };
  if (layout_sizes_.size() != static_cast<std::size_t>(shape.rank()) + 1 ||
      layout_sizes_.back() != element_bytes || shape.rank() == 0)
    fail_with_damage("chunks of the wrong rank or element size");
  sizes_.assign(shape.begin(), shape.end());
  chunk_bytes_ = element_bytes_ = element_bytes;
  check(chunk_bytes_ <= max_bytes);
  chunk_sizes_.clear();
  counts_.clear();
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
    const std::uint64_t size = layout_sizes_[axis];
    if (size == 0) fail_structure("chunks of at least one element", "empty chunks");
    const std::uint64_t along = (static_cast<std::uint64_t>(sizes_[axis]) - 1) / size + 1;
    check(along <= Hdf5File::max_chunks / count && size <= max_bytes / chunk_bytes_);
    count *= along;
    chunk_bytes_ *= size;
    chunk_sizes_.push_back(static_cast<Index>(size));
    counts_.push_back(static_cast<Index>(along));
    if (extent.limits[axis] == unlimited)
      growing_axis_ = axis;
    else
      limits_[axis] = (extent.limits[axis] - 1) / size + 1;
  }
  check(chunk_bytes_ <= (16 * data_bytes + max_bytes) / count);
  chunks_.assign(count, {});
}

void ChunkedData::add(const SourceFile& file, const Coordinates& coordinates, Chunk chunk) {
  if (chunk.address == undefined_address) return;
  std::uint64_t place = 0;
  for (std::size_t axis = 0; axis < counts_.size(); ++axis) {
    const auto count = static_cast<std::uint64_t>(counts_[axis]);
    if (coordinates[axis] >= count) return;  // left over from when the dataset was larger
    place = place * count + coordinates[axis];
  }
  if (filters_.empty() ? chunk.size != chunk_bytes_
                       : chunk.size > chunk_bytes_ + chunk_bytes_ / 8 + 1024)
    fail_structure(str_cat("chunks of ", chunk_bytes_, " bytes"),
                   str_cat("a chunk of ", chunk.size, " bytes"));
  if (chunk.size > file.bytes_from(chunk.address)) fail_with_damage("a chunk outside the file");
  if (chunks_[place].address != undefined_address) fail_with_damage("a chunk that is stored twice");
  chunks_[place] = chunk;
}

ChunkedData::Coordinates ChunkedData::coordinates_of(std::uint64_t index) const {
  Coordinates coordinates{};
  for (std::size_t axis = counts_.size(); axis-- > 0;) {
    if (axis == growing_axis_) continue;
    coordinates[axis] = index % limits_[axis];
    index /= limits_[axis];
  }
  coordinates[growing_axis_] = index;
  return coordinates;
}

ChunkedData::Chunk ChunkedData::read_entry(Cursor& entry, std::uint64_t bytes) const {
  Chunk chunk{entry.address(), chunk_bytes_, 0};
  if (filters_.empty()) return chunk;
  const std::uint64_t others = address_size + mask_size;
  if (bytes <= others || bytes > others + 8) fail_with_damage("an index of inconsistent sizes");
  chunk.size = entry.number(bytes - others);
  chunk.skipped_filters = static_cast<std::uint32_t>(entry.number(mask_size));
  return chunk;
}

void ChunkedData::add_from_tree_1(Metadata& metadata) {
  const std::size_t key_size = 8 + 8 * layout_sizes_.size();
  visit_tree(metadata, address_, TreeOf::chunks, key_size, [&](Cursor key, Address address) {
    Chunk chunk{address, key.number(4), 0};
    chunk.skipped_filters = static_cast<std::uint32_t>(key.number(mask_size));
    Coordinates coordinates{};
    for (std::size_t axis = 0; axis < counts_.size(); ++axis) {
      const auto size = static_cast<std::uint64_t>(chunk_sizes_[axis]);
      const std::uint64_t offset = key.number(8);
      if (offset % size != 0) fail_with_damage("a chunk that is not aligned to the grid");
      coordinates[axis] = offset / size;
    }
    add(metadata.file(), coordinates, chunk);
  });
}

void ChunkedData::add_from_tree_2(Metadata& metadata) {
  const std::uint64_t place_bytes = 8 * counts_.size();
  visit_records(metadata, address_, [&](Cursor record) {
    const std::uint64_t bytes = record.rest().size();
    const Chunk chunk = read_entry(record, bytes - std::min(place_bytes, bytes));
    Coordinates coordinates{};
    for (std::size_t axis = 0; axis < counts_.size(); ++axis) coordinates[axis] = record.number(8);
    add(metadata.file(), coordinates, chunk);
  });
}

std::vector<std::byte> ChunkedData::bytes_of(const SourceFile& file, const Chunk& chunk) const {
  std::vector<std::byte> bytes(chunk.address == undefined_address ? chunk_bytes_ : chunk.size);
  if (chunk.address == undefined_address) {
    fill_.fill(bytes);
    return bytes;
  }
  file.read(chunk.address, bytes);
  if (filters_.empty()) return bytes;
  return filters_.undo(std::move(bytes), chunk.skipped_filters, chunk_bytes_);
}

void ChunkedData::read(const SourceFile& file, Index first, Index last,
                       const ElementSink& sink) const {
  const std::size_t last_axis = sizes_.size() - 1;
  Sizes origin(sizes_.size()), begin(sizes_.size()), end(sizes_.size());
  for (std::size_t place = 0; place < chunks_.size(); ++place) {
    // The requested elements of the chunk are those from `begin` to `end` along each axis.
    Index runs = 1;  // number of runs, which are along the last axis
    auto rest = static_cast<Index>(place);
    for (std::size_t axis = sizes_.size(); axis-- > 0; rest /= counts_[axis]) {
      origin[axis] = begin[axis] = rest % counts_[axis] * chunk_sizes_[axis];
      end[axis] = std::min(origin[axis] + chunk_sizes_[axis], sizes_[axis]);
      if (axis == 0) begin[axis] = std::max(begin[axis], first);
      if (axis == 0) end[axis] = std::min(end[axis], last);
      if (axis != last_axis) runs *= end[axis] - begin[axis];
    }
    if (begin[0] >= end[0]) continue;
    const std::vector<std::byte> bytes = bytes_of(file, chunks_[place]);
    const auto run_bytes =
        static_cast<std::uint64_t>(end[last_axis] - begin[last_axis]) * element_bytes_;
    for (Index run = 0; run < runs; ++run) {
      // The position of the run in the chunk and in the dataset, in elements.
      Index from = 0, to = 0, from_stride = 1, to_stride = 1;
      rest = run;
      for (std::size_t axis = sizes_.size(); axis-- > 0;) {
        Index along = begin[axis];
        if (axis != last_axis) {
          along += rest % (end[axis] - begin[axis]);
          rest /= end[axis] - begin[axis];
        }
        from += (along - origin[axis]) * from_stride;
        to += (along - (axis == 0 ? first : 0)) * to_stride;
        from_stride *= chunk_sizes_[axis];
        to_stride *= sizes_[axis];
      }
      sink(to, Bytes(bytes).subspan(static_cast<std::uint64_t>(from) * element_bytes_, run_bytes));
    }
  }
}

namespace {

enum LayoutClass : unsigned { compact = 0, contiguous = 1, chunked = 2, virtual_dataset = 3 };

}  // namespace

StoredData::StoredData(const ObjectHeader& header) : fill_(header) {
  Cursor layout = header.require(MessageType::layout, "a layout");
  const unsigned version = layout.byte();
  if (version < 3 || version > 5) fail_unsupported(str_cat("a layout of version ", version));
  const unsigned kind = layout.byte();
  if (kind == virtual_dataset) fail_structure("data in the file itself", "a virtual dataset");
  if (header.has(MessageType::external_files))
    fail_structure("data in the file itself", "a dataset with its data in another file");
  Filters filters;
  if (header.has(MessageType::filters))
    filters = Filters(header.require(MessageType::filters, "filters"));
  if (kind == compact) {
    const Bytes bytes = layout.take(layout.number(2));
    data_ = Compact(bytes.begin(), bytes.end());
  } else if (kind == contiguous) {
    const Address address = layout.address();
    data_ = Contiguous{address, layout.number(8)};
  } else if (kind == chunked) {
    data_ = ChunkedData(layout, version, std::move(filters), fill_);
  } else {
    fail_with_damage("an unknown layout");
  }
}

void StoredData::locate(Metadata& metadata, const Extent& extent, std::uint64_t element_bytes) {
  const Shape& shape = extent.shape;
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  element_bytes_ = element_bytes;
  if (elements == 0) return;
  row_elements_ = shape.rank() == 0 ? 1 : shape.elements() / shape[0];
  if (auto* data = std::get_if<ChunkedData>(&data_))
    return data->locate(metadata, extent, element_bytes);
  const auto* data = std::get_if<Contiguous>(&data_);
  if (data && data->address == undefined_address) return fill_.check(elements, element_bytes);
  const std::uint64_t stored = data ? data->size : std::get<Compact>(data_).size();
  const std::uint64_t available = data ? metadata.file().bytes_from(data->address) : stored;
  if (stored > available || stored % element_bytes != 0 || stored / element_bytes != elements)
    fail_structure(
        str_cat(elements, " elements of ", element_bytes, " bytes"),
        str_cat(stored, " bytes, of which the file contains ", std::min(stored, available)));
}

void StoredData::read(const SourceFile& file, Index first, Index last,
                      const ElementSink& sink) const {
  if (row_elements_ == 0 || first == last) return;
  if (const auto* data = std::get_if<ChunkedData>(&data_))
    return data->read(file, first, last, sink);
  const Index count = (last - first) * row_elements_;
  const auto bytes_in = [&](Index elements) {
    return static_cast<std::uint64_t>(elements) * element_bytes_;
  };
  const std::uint64_t begin = bytes_in(first * row_elements_);
  if (const auto* data = std::get_if<Compact>(&data_))
    return sink(0, Bytes(*data).subspan(begin, bytes_in(count)));
  const Address address = std::get<Contiguous>(data_).address;
  read_in_blocks(
      count, element_bytes_,
      [&](std::uint64_t offset, std::span<std::byte> bytes) {
        if (address == undefined_address)
          fill_.fill(bytes);
        else
          file.read(address + begin + offset, bytes);
      },
      sink);
}

void read_in_blocks(Index count, std::uint64_t element_bytes,
                    const std::function<void(std::uint64_t offset, std::span<std::byte>)>& read,
                    const ElementSink& sink) {
  constexpr std::uint64_t block_bytes = 256 << 10;
  const auto block = static_cast<Index>(std::max<std::uint64_t>(1, block_bytes / element_bytes));
  parallel_for(count, block, [&](Index from, Index to) {
    const std::uint64_t size = static_cast<std::uint64_t>(to - from) * element_bytes;
    const auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    read(static_cast<std::uint64_t>(from) * element_bytes, {bytes.get(), size});
    sink(from, {bytes.get(), size});
  });
}

}  // namespace weft::hdf5
