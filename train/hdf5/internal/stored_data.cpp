#include "train/hdf5/internal/stored_data.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "weft/autograd/parallel.hpp"
#include "train/hdf5/internal/chunk_index.hpp"

// "The Data Layout Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

enum LayoutClass : unsigned { compact = 0, contiguous = 1, chunked = 2, virtual_dataset = 3 };

ChunkedData read_chunked_layout_3(Cursor& cursor) {
  ChunkedData data{};
  data.index = ChunkedData::Index::first_version;
  const unsigned sizes = cursor.byte();
  data.address = cursor.address();
  for (unsigned i = 0; i < sizes; ++i) data.sizes.push_back(cursor.number(4));
  return data;
}

ChunkedData read_chunked_layout_4(Cursor& cursor) {
  constexpr unsigned edges_without_filters = 1, one_chunk_with_filters = 2;
  ChunkedData data{};
  const unsigned flags = cursor.byte();
  if ((flags & edges_without_filters) != 0)
    fail_unsupported(cursor.location(), "chunks of which some are not filtered");
  const unsigned sizes = cursor.byte();
  const std::size_t size_bytes = cursor.byte();
  if (size_bytes < 1 || size_bytes > 8) fail_with_damage(cursor.location(), "an unknown layout");
  for (unsigned i = 0; i < sizes; ++i) data.sizes.push_back(cursor.number(size_bytes));
  data.index = static_cast<ChunkedData::Index>(cursor.byte());
  switch (data.index) {
    case ChunkedData::Index::one_chunk:
      if ((flags & one_chunk_with_filters) != 0) {
        data.only.size = cursor.number(8);
        data.only.skipped_filters = static_cast<std::uint32_t>(cursor.number(4));
      }
      break;
    case ChunkedData::Index::fixed_array:
      cursor.skip(1);
      break;
    case ChunkedData::Index::tree:
      cursor.skip(6);
      break;
    default:
      fail_unsupported(cursor.location(), "chunks of a dataset that can grow");
  }
  data.address = cursor.address();
  return data;
}

// The number of elements of a row.
Index row_elements(const Shape& shape) {
  Index elements = 1;
  for (Index axis = 1; axis < shape.rank(); ++axis) elements *= shape[axis];
  return elements;
}

std::vector<Index> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

// The number of elements between neighbours along each axis.
std::vector<Index> strides_of(const std::vector<Index>& sizes) {
  std::vector<Index> strides(sizes.size(), 1);
  for (std::size_t axis = sizes.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * sizes[axis + 1];
  return strides;
}

// The next place of a box, from `begin` to `end` along the first axes, in row-major order; false
// after the last one, which is followed by the first.
bool advance(std::vector<Index>& at, const std::vector<Index>& begin, const std::vector<Index>& end,
             std::size_t axes) {
  for (std::size_t axis = axes; axis-- > 0;) {
    if (++at[axis] < end[axis]) return true;
    at[axis] = begin[axis];
  }
  return false;
}

// The bytes of a chunk before the filters.
std::vector<std::byte> read_chunk(const SourceFile& file, const ChunkedData& data,
                                  const ChunkGrid& grid, const Chunk& chunk,
                                  const Location& location) {
  std::vector<std::byte> bytes(chunk.size);
  file.read(chunk.address, bytes, location);
  if (data.filters.empty()) return bytes;
  return data.filters.undo(std::move(bytes), chunk.skipped_filters, grid.bytes(), location);
}

}  // namespace

StoredData::StoredData(const ObjectHeader& header, const Location& location) {
  Cursor cursor(header.require(MessageType::layout, "a layout", location), location);
  const unsigned version = cursor.byte();
  if (version != 3 && version != 4)
    fail_unsupported(location, concatenate_text("a layout of version ", version));
  const unsigned kind = cursor.byte();
  if (kind == virtual_dataset) fail_at(location, "data in the file itself", "a virtual dataset");
  if (header.find(MessageType::external_files))
    fail_at(location, "data in the file itself", "a dataset with its data in another file");
  Filters filters;
  if (header.find(MessageType::filters))
    filters = Filters(header.require(MessageType::filters, "filters", location), location);
  if (kind == compact) {
    const Bytes bytes = cursor.take(cursor.number(2));
    data_ = Compact(bytes.begin(), bytes.end());
  } else if (kind == contiguous) {
    const Address address = cursor.address();
    data_ = ContiguousData{address, cursor.number(8)};
  } else if (kind == chunked) {
    ChunkedData data = version == 3 ? read_chunked_layout_3(cursor) : read_chunked_layout_4(cursor);
    data.filters = std::move(filters);
    data_ = std::move(data);
  } else {
    fail_with_damage(location, "an unknown layout");
  }
}

void StoredData::locate(Metadata& metadata, const Shape& shape, std::uint64_t element_bytes,
                        const Location& location) {
  shape_ = shape;
  element_bytes_ = element_bytes;
  if (shape.elements() == 0) return;
  if (const auto* data = std::get_if<ChunkedData>(&data_)) {
    chunks_ =
        find_chunks(metadata, *data, ChunkGrid(*data, shape, element_bytes, location), location);
    return;
  }
  const auto* data = std::get_if<ContiguousData>(&data_);
  if (data && data->address == undefined_address)
    fail_at(location, "data", "a dataset that was never written");
  const std::uint64_t stored = data ? data->size : std::get<Compact>(data_).size();
  const std::uint64_t available = data ? metadata.file().bytes_from(data->address) : stored;
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  if (stored > available || stored % element_bytes != 0 || stored / element_bytes != elements)
    fail_at(
        location, concatenate_text(elements, " elements of ", element_bytes, " bytes"),
        concatenate_text(stored, " bytes, of which the file has ", std::min(stored, available)));
}

void StoredData::read(const SourceFile& file, Index first, Index last, const Location& location,
                      const ElementSink& sink) const {
  if (shape_.elements() == 0 || first == last) return;
  if (const auto* contiguous_data = std::get_if<ContiguousData>(&data_))
    return read_contiguous(file, *contiguous_data, first, last, location, sink);
  if (const auto* chunked_data = std::get_if<ChunkedData>(&data_))
    return read_chunked(file, *chunked_data, first, last, location, sink);
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(row_elements(shape_)) * element_bytes_;
  const auto row = [&](Index index) { return static_cast<std::uint64_t>(index) * row_bytes; };
  sink(0, Bytes(std::get<Compact>(data_)).subspan(row(first), row(last) - row(first)));
}

void StoredData::read_contiguous(const SourceFile& file, const ContiguousData& data, Index first,
                                 Index last, const Location& location,
                                 const ElementSink& sink) const {
  constexpr std::uint64_t block_bytes = 256 << 10;
  const Index begin = first * row_elements(shape_);
  const Index count = (last - first) * row_elements(shape_);
  const auto block = static_cast<Index>(std::max<std::uint64_t>(1, block_bytes / element_bytes_));
  parallel_for(count, block, [&](Index from, Index to) {
    const auto size = static_cast<std::uint64_t>(to - from) * element_bytes_;
    const auto bytes = std::make_unique_for_overwrite<std::byte[]>(size);
    file.read(data.address + static_cast<std::uint64_t>(begin + from) * element_bytes_,
              {bytes.get(), size}, location);
    sink(from, {bytes.get(), size});
  });
}

void StoredData::read_chunked(const SourceFile& file, const ChunkedData& data, Index first,
                              Index last, const Location& location, const ElementSink& sink) const {
  const ChunkGrid grid(data, shape_, element_bytes_, location);
  const std::vector<Index> sizes = sizes_of(shape_), chunk_sizes = grid.sizes();
  const std::vector<Index> strides = strides_of(sizes), chunk_strides = strides_of(chunk_sizes);
  const std::size_t rank = sizes.size();
  std::vector<Index> place(rank, 0);  // of the chunk in the grid
  for (const Chunk& chunk : chunks_) {
    // The elements of the chunk that are wanted, from `begin` to `end` along each axis.
    std::vector<Index> origin(rank), end(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      origin[axis] = place[axis] * chunk_sizes[axis];
      end[axis] = std::min(origin[axis] + chunk_sizes[axis], sizes[axis]);
    }
    advance(place, std::vector<Index>(rank, 0), grid.chunks(), rank);
    std::vector<Index> begin = origin;
    begin[0] = std::max(begin[0], first);
    end[0] = std::min(end[0], last);
    if (begin[0] >= end[0]) continue;
    const std::vector<std::byte> bytes = read_chunk(file, data, grid, chunk, location);
    // Runs of elements along the last axis.
    const auto run = static_cast<std::uint64_t>(end[rank - 1] - begin[rank - 1]) * element_bytes_;
    std::vector<Index> at = begin;
    do {
      Index from = 0, to = -first * strides[0];
      for (std::size_t axis = 0; axis < rank; ++axis) {
        from += (at[axis] - origin[axis]) * chunk_strides[axis];
        to += at[axis] * strides[axis];
      }
      sink(to, Bytes(bytes).subspan(static_cast<std::uint64_t>(from) * element_bytes_, run));
    } while (advance(at, begin, end, rank - 1));
  }
}

}  // namespace weft::hdf5
