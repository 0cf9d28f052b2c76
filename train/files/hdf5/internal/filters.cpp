#include "train/files/hdf5/internal/filters.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <utility>

#include "train/files/hdf5/internal/bytes.hpp"

// "The Data Storage - Filter Pipeline Message" in the HDF5 File Format Specification.
namespace weft::hdf5 {
namespace {

[[noreturn]] void fail_with_size(std::uint64_t expected, bool larger) {
  fail_structure(str_cat("chunks of ", expected, " bytes"),
                 larger ? "a larger chunk" : "a smaller chunk");
}

// Returns the decompressed bytes. Throws StructureError unless there are exactly `size` of them.
std::vector<std::byte> inflate(Bytes compressed, std::uint64_t size) {
  std::vector<std::byte> inflated(size + 1);  // one byte more, to detect a larger result
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  stream.next_out = reinterpret_cast<Bytef*>(inflated.data());
  stream.avail_out = static_cast<uInt>(inflated.size());
  const int status = ::inflate(&stream, Z_FINISH);
  const std::uint64_t found = stream.total_out;
  ::inflateEnd(&stream);
  if (found != size || status != Z_STREAM_END) fail_with_size(size, found > size);
  inflated.resize(size);
  return inflated;
}

// Decompresses LZF (Lehmann, 2000): runs of literal bytes, and copies of earlier bytes of the
// result. Each starts with a byte whose highest three bits are 0 for a run, and otherwise the
// length of the copy minus 2. Throws StructureError unless the result has `size` bytes.
std::vector<std::byte> expand_lzf(Bytes compressed, std::uint64_t size) {
  std::vector<std::byte> expanded;
  expanded.reserve(size);
  std::size_t at = 0;
  const auto next = [&] {
    if (at == compressed.size()) fail_with_damage("compressed data that end too early");
    return std::to_integer<std::size_t>(compressed[at++]);
  };
  while (at < compressed.size()) {
    const std::size_t control = next();
    std::size_t length = control >> 5;
    const bool is_run = length == 0;
    if (is_run)
      length = control + 1;
    else
      length += 2 + (length == 7 ? next() : 0);
    if (length > size - expanded.size()) fail_with_size(size, true);
    if (is_run) {
      for (std::size_t i = 0; i < length; ++i) expanded.push_back(static_cast<std::byte>(next()));
      continue;
    }
    const std::size_t distance = ((control & 31) << 8 | next()) + 1;
    if (distance > expanded.size())
      fail_with_damage("compressed data that refer to bytes before the start");
    // Byte by byte, because the copy may overlap its source.
    for (std::size_t i = 0; i < length; ++i)
      expanded.push_back(expanded[expanded.size() - distance]);
  }
  if (expanded.size() != size) fail_with_size(size, false);
  return expanded;
}

// Returns the name of a filter for messages, "szip (filter 4)".
std::string name_of_filter(unsigned id) {
  constexpr std::pair<unsigned, const char*> names[] = {
      {4, "szip"},    {5, "nbit"},          {6, "scale-offset"}, {305, "LZO"},
      {307, "bzip2"}, {32001, "Blosc"},     {32004, "LZ4"},      {32008, "bitshuffle"},
      {32013, "ZFP"}, {32015, "Zstandard"}, {32026, "Blosc2"}};
  const auto known = std::ranges::find(names, id, [](const auto& name) { return name.first; });
  return known == std::end(names) ? str_cat("filter ", id)
                                  : str_cat(known->second, " (filter ", id, ')');
}

// Undoes shuffle, which stores the first bytes of all elements, then their second bytes, and so on.
// Bytes after the last whole element remain in place.
std::vector<std::byte> unshuffle(const std::vector<std::byte>& shuffled, std::uint64_t element) {
  if (element <= 1 || element > shuffled.size()) return shuffled;
  const std::size_t count = shuffled.size() / element;
  std::vector<std::byte> bytes(shuffled);
  for (std::size_t byte = 0; byte < element; ++byte)
    for (std::size_t i = 0; i < count; ++i) bytes[i * element + byte] = shuffled[byte * count + i];
  return bytes;
}

// Returns Fletcher's checksum (1982): sums, modulo 2^16 - 1, of big-endian 16-bit words. The last
// word may consist of one byte.
std::uint32_t fletcher32(Bytes bytes) {
  std::uint32_t first = 0, second = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    std::uint32_t word = std::to_integer<std::uint32_t>(bytes[i]) << 8;
    if (i + 1 < bytes.size()) word |= std::to_integer<std::uint32_t>(bytes[i + 1]);
    first = (first + word) % 0xFFFF;
    second = (second + first) % 0xFFFF;
  }
  return second << 16 | first;
}

// Compares checksums; 0 and 2^16 - 1 are the same sum.
bool equal_sums(std::uint32_t a, std::uint32_t b) {
  return (a & 0xFFFF) % 0xFFFF == (b & 0xFFFF) % 0xFFFF && (a >> 16) % 0xFFFF == (b >> 16) % 0xFFFF;
}

}  // namespace

Filters::Filters(Cursor cursor) {
  constexpr unsigned first_unnamed = 256;
  const unsigned version = cursor.byte();
  if (version != 1 && version != 2) fail_with_damage("an unknown list of filters");
  const unsigned count = cursor.byte();
  if (version == 1) cursor.skip(6);
  for (unsigned i = 0; i < count; ++i) {
    const unsigned id = cursor.short_number();
    const unsigned name_size = version == 1 || id >= first_unnamed ? cursor.short_number() : 0;
    cursor.skip(2);
    const unsigned parameters = cursor.short_number();
    cursor.skip(version == 1 ? (name_size + 7) / 8 * 8 : name_size);
    const std::uint64_t parameter = parameters > 0 ? cursor.number(4) : 0;
    if (parameters > 0) cursor.skip(4 * (std::uint64_t{parameters} - 1));
    if (version == 1 && parameters % 2 != 0) cursor.skip(4);
    const bool is_known = (id >= 1 && id <= 3) || id == static_cast<unsigned>(Id::lzf);
    if (!is_known ||
        std::ranges::find(filters_, static_cast<Id>(id), &Filter::id) != filters_.end())
      fail_structure("no filters except deflate, shuffle, fletcher32 and LZF, each once",
                     str_cat(name_of_filter(id), " at position ", i));
    filters_.push_back({static_cast<Id>(id), parameter});
  }
}

std::vector<std::byte> Filters::undo(std::vector<std::byte> stored, std::uint32_t skipped,
                                     std::uint64_t size) const {
  // The sizes of the data before each filter; checksums added by earlier filters count.
  std::vector<std::uint64_t> sizes;
  std::uint64_t expected = size;
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    sizes.push_back(expected);
    if ((skipped >> i & 1) == 0 && filters_[i].id == Id::fletcher32) expected += checksum_size;
  }
  for (std::size_t i = filters_.size(); i-- > 0;) {
    if ((skipped >> i & 1) != 0) continue;
    switch (filters_[i].id) {
      case Id::deflate:
        stored = inflate(stored, sizes[i]);
        break;
      case Id::lzf:
        stored = expand_lzf(stored, sizes[i]);
        break;
      case Id::shuffle:
        stored = unshuffle(stored, filters_[i].parameter);
        break;
      case Id::fletcher32: {
        if (stored.size() < checksum_size) fail_with_size(size, false);
        const Bytes contents = Bytes(stored).first(stored.size() - checksum_size);
        const auto sum =
            static_cast<std::uint32_t>(little_endian(Bytes(stored).last(checksum_size)));
        if (!equal_sums(sum, fletcher32(contents)))
          fail_structure("chunks with correct checksums", "a wrong checksum");
        stored.resize(stored.size() - checksum_size);
        break;
      }
    }
  }
  if (stored.size() != size) fail_with_size(size, stored.size() > size);
  return stored;
}

}  // namespace weft::hdf5
