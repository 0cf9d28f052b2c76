#include "train/files/hdf5/internal/stored_data.hpp"

#include <algorithm>
#include <utility>

#include "train/files/hdf5/internal/dataset_source.hpp"

// "The Data Layout Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

enum LayoutClass : unsigned { compact = 0, contiguous = 1, chunked = 2, virtual_dataset = 3 };

}  // namespace

StoredData::StoredData(const ObjectHeader& header) : fill_(header) {
  Cursor layout = header.require(MessageType::layout, "a layout");
  const unsigned version = layout.byte();
  if (version < 3 || version > 5)
    fail_unsupported(concatenate_text("a layout of version ", version));
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
        concatenate_text(elements, " elements of ", element_bytes, " bytes"),
        concatenate_text(stored, " bytes, of which the file has ", std::min(stored, available)));
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

}  // namespace weft::hdf5
