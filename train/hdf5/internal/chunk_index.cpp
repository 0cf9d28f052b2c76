#include "train/hdf5/internal/chunk_index.hpp"

#include <algorithm>

#include "weft/train/hdf5/hdf5_file.hpp"
#include "train/hdf5/internal/checksum.hpp"
#include "train/hdf5/internal/dense_storage.hpp"
#include "train/hdf5/internal/tree.hpp"

// "The Data Layout Message" and "Appendix C: Types of Indexes for Dataset Chunks" in the HDF5 File
// Format Specification.
namespace weft::hdf5 {
namespace {

constexpr std::uint64_t address_size = 8, mask_size = 4;

class Collector {
 public:
  Collector(const ChunkedData& data, const ChunkGrid& grid, const SourceFile& file,
            const Location& location)
      : data_(data), grid_(grid), file_(file), location_(location), chunks_(grid.count()) {}

  std::size_t count() const { return chunks_.size(); }

  // A chunk at its place in row-major order.
  void add(std::size_t place, Chunk chunk) {
    if (chunk.address == undefined_address) return;
    if (data_.filters.empty() ? chunk.size != grid_.bytes()
                              : chunk.size > grid_.bytes() + grid_.bytes() / 8 + 1024)
      fail_at(location_, concatenate_text("chunks of ", grid_.bytes(), " bytes"),
              concatenate_text("one stored in ", chunk.size));
    if (chunk.size > file_.bytes_from(chunk.address))
      fail_with_damage(location_, "a chunk outside the file");
    if (chunks_[place].address != undefined_address)
      fail_with_damage(location_, "a chunk that is there twice");
    chunks_[place] = chunk;
    ++written_;
  }
  // A chunk at its place along each axis, which `coordinate` returns for the axis.
  template <class Coordinate>
  void add_at(const Coordinate& coordinate, Chunk chunk) {
    std::uint64_t place = 0;
    for (std::size_t axis = 0; axis < grid_.chunks().size(); ++axis) {
      const std::uint64_t along = coordinate(axis);
      const auto chunks = static_cast<std::uint64_t>(grid_.chunks()[axis]);
      if (along >= chunks) return;  // left from a dataset that was larger
      place = place * chunks + along;
    }
    add(place, chunk);
  }

  std::vector<Chunk> all() {
    if (written_ != chunks_.size())
      fail_at(location_, concatenate_text("all ", chunks_.size(), " chunks"),
              concatenate_text(written_, " that were written"));
    return std::move(chunks_);
  }

 private:
  const ChunkedData& data_;
  const ChunkGrid& grid_;
  const SourceFile& file_;
  const Location& location_;
  std::vector<Chunk> chunks_;
  std::size_t written_ = 0;
};

void add_from_first_version(Metadata& metadata, const ChunkedData& data, const ChunkGrid& grid,
                            Collector& chunks, const Location& location) {
  const std::size_t key_size = 8 + 8 * data.sizes.size();
  visit_tree(metadata, data.address, TreeOf::chunks, key_size, location,
             [&](Bytes key, Address address) {
               Cursor cursor(key, location);
               Chunk chunk{address, cursor.number(4), 0};
               chunk.skipped_filters = static_cast<std::uint32_t>(cursor.number(mask_size));
               chunks.add_at(
                   [&](std::size_t axis) {
                     const auto size = static_cast<std::uint64_t>(grid.sizes()[axis]);
                     const std::uint64_t offset = cursor.number(8);
                     if (offset % size != 0)
                       fail_with_damage(location, "a chunk between the places of the grid");
                     return offset / size;
                   },
                   chunk);
             });
}

// A chunk of the newer indexes: its address and, with filters, its size and the skipped ones.
Chunk read_chunk(Cursor& cursor, const ChunkGrid& grid, bool filtered, std::uint64_t size_bytes) {
  Chunk chunk{cursor.address(), grid.bytes(), 0};
  if (!filtered) return chunk;
  if (size_bytes < 1 || size_bytes > 8)
    fail_with_damage(cursor.location(), "an index of contradictory sizes");
  chunk.size = cursor.number(size_bytes);
  chunk.skipped_filters = static_cast<std::uint32_t>(cursor.number(mask_size));
  return chunk;
}

void add_from_tree(Metadata& metadata, const ChunkedData& data, const ChunkGrid& grid,
                   Collector& chunks, const Location& location) {
  const std::uint64_t others = address_size + mask_size + 8 * grid.sizes().size();
  visit_records(metadata, data.address, location, [&](Bytes record) {
    Cursor cursor(record, location);
    const Chunk chunk = read_chunk(cursor, grid, !data.filters.empty(),
                                   record.size() - std::min(others, record.size()));
    chunks.add_at([&](std::size_t) { return cursor.number(8); }, chunk);
  });
}

void add_from_fixed_array(Metadata& metadata, const ChunkedData& data, const ChunkGrid& grid,
                          Collector& chunks, const Location& location) {
  constexpr std::uint64_t header_size = 28, block_header_size = 14;
  const std::vector<std::byte> head = metadata.read_checked(data.address, header_size, location);
  Cursor header(head, location);
  header.expect("FAHD");
  header.skip(2);
  const std::uint64_t entry_size = header.byte();
  const unsigned page_bits = header.byte();
  const std::uint64_t entries = header.number(8);
  Address at = header.address();
  if (at == undefined_address) return;
  if (entries != chunks.count()) fail_unsupported(location, "a dataset that can grow");
  if (entry_size < address_size || page_bits > 31)
    fail_with_damage(location, "an index of contradictory sizes");
  const auto add_page = [&](std::uint64_t first, Bytes page) {
    for (; !page.empty(); page = page.subspan(entry_size)) {
      Cursor entry(page.first(entry_size), location);
      chunks.add(first++, read_chunk(entry, grid, !data.filters.empty(),
                                     entry_size - std::min(entry_size, address_size + mask_size)));
    }
  };
  // Large arrays are divided into pages, after a bit for each that is set when it was written.
  const std::uint64_t per_page = std::uint64_t{1} << page_bits;
  const bool paged = entries > per_page;
  const std::uint64_t pages = (entries - 1) / per_page + 1;
  const std::uint64_t size =
      block_header_size + (paged ? (pages + 7) / 8 : entries * entry_size) + checksum_size;
  const std::vector<std::byte> block = metadata.read_checked(at, size, location);
  Cursor(block, location).expect("FADB");
  const Bytes written = Bytes(block).subspan(block_header_size);
  if (!paged) return add_page(0, written);
  at += size;
  for (std::uint64_t page = 0; page < pages; ++page) {
    const std::uint64_t first = page * per_page, count = std::min(per_page, entries - first);
    if (std::to_integer<unsigned>(written[page / 8] << (page % 8) & std::byte{0x80}) != 0)
      add_page(first, metadata.read_checked(at, count * entry_size + checksum_size, location));
    at += count * entry_size + checksum_size;
  }
}

}  // namespace

ChunkGrid::ChunkGrid(const ChunkedData& data, const Shape& shape, std::uint64_t element_bytes,
                     const Location& location) {
  constexpr std::uint64_t max_bytes = 16 << 20, max_data = std::uint64_t{1} << 44;
  const auto elements = static_cast<std::uint64_t>(shape.elements());
  if (elements > max_data / element_bytes)
    fail_at(location, "at most 16 TiB",
            concatenate_text(elements, " elements of ", element_bytes, " bytes"));
  const std::uint64_t data_bytes = elements * element_bytes;
  const auto check = [&](bool valid) {
    if (!valid)
      fail_at(location,
              concatenate_text("at most ", Hdf5File::max_chunks,
                               " chunks of at most 16 MiB, in proportion to ", data_bytes,
                               " bytes of data"),
              "too many or too large chunks");
  };
  if (data.sizes.size() != static_cast<std::size_t>(shape.rank()) + 1 ||
      data.sizes.back() != element_bytes || shape.rank() == 0)
    fail_with_damage(location, "chunks of another rank or element size");
  bytes_ = element_bytes;
  check(bytes_ <= max_bytes);
  for (Index axis = 0; axis < shape.rank(); ++axis) {
    const std::uint64_t size = data.sizes[static_cast<std::size_t>(axis)];
    if (size == 0) fail_at(location, "chunks of at least one element", "empty ones");
    const std::uint64_t along = (static_cast<std::uint64_t>(shape[axis]) - 1) / size + 1;
    check(along <= Hdf5File::max_chunks / count_ && size <= max_bytes / bytes_);
    count_ *= along;
    bytes_ *= size;
    sizes_.push_back(static_cast<Index>(size));
    chunks_.push_back(static_cast<Index>(along));
  }
  check(bytes_ <= (16 * data_bytes + max_bytes) / count_);
}

std::vector<Chunk> find_chunks(Metadata& metadata, const ChunkedData& data, const ChunkGrid& grid,
                               const Location& location) {
  Collector chunks(data, grid, metadata.file(), location);
  if (data.address != undefined_address) {
    switch (data.index) {
      case ChunkedData::Index::first_version:
        add_from_first_version(metadata, data, grid, chunks, location);
        break;
      case ChunkedData::Index::one_chunk:
        chunks.add(0, {data.address, data.filters.empty() ? grid.bytes() : data.only.size,
                       data.only.skipped_filters});
        break;
      case ChunkedData::Index::fixed_array:
        add_from_fixed_array(metadata, data, grid, chunks, location);
        break;
      case ChunkedData::Index::tree:
        add_from_tree(metadata, data, grid, chunks, location);
        break;
    }
  }
  return chunks.all();
}

}  // namespace weft::hdf5
