#include "train/files/hdf5/internal/dataset_source.hpp"

#include <algorithm>
#include <memory>

#include "weft/autograd/parallel.hpp"

namespace weft::hdf5 {

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
