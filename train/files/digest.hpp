// Digest: a 128-bit fingerprint of bytes, to find out whether they changed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft {

// MurmurHash3_x64_128 (Austin Appleby, 2011) with seed 0. It takes the bytes in blocks of 16 and
// maps its state by a bijection for each, so changes within one block are always noticed; any
// others are missed once in 2^128. It does not resist forgery.
class Digest {
 public:
  // Bytes may come in any portions.
  void add(std::span<const std::byte> bytes);
  // 32 hexadecimal digits: the fingerprint of all that was added.
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
