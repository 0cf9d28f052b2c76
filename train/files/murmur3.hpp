// Murmur3: the 128-bit hash of checkpoints of format 1, kept to verify them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft {

// MurmurHash3_x64_128 (Austin Appleby, 2011) with seed 0.
class Murmur3 {
 public:
  // Bytes may come in any portions.
  void add(std::span<const std::byte> bytes);
  // 32 hexadecimal digits: the hash of all that was added.
  std::string text() const;

 private:
  static constexpr std::size_t block_size = 16;

  void add_block(const std::byte* block);

  std::uint64_t h1_ = 0;
  std::uint64_t h2_ = 0;
  std::uint64_t length_ = 0;
  // The last length_ % 16 bytes, which do not fill a block yet; zeros after them.
  std::array<std::byte, block_size> pending_{};
};

}  // namespace weft
