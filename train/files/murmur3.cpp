#include "train/files/murmur3.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace weft {
namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5;
constexpr std::uint64_t c2 = 0x4cf5ad432745937f;

// Bytes are taken as little-endian numbers, which is what they are on every machine of weft.
static_assert(std::endian::native == std::endian::little);

std::uint64_t number_at(const std::byte* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint64_t mixed_first(std::uint64_t k) { return std::rotl(k * c1, 31) * c2; }
std::uint64_t mixed_second(std::uint64_t k) { return std::rotl(k * c2, 33) * c1; }

// Spreads every bit over all bits.
std::uint64_t finished(std::uint64_t h) {
  h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

}  // namespace

void Murmur3::add(std::span<const std::byte> bytes) {
  const std::size_t pending = length_ % block_size;
  length_ += bytes.size();
  if (pending > 0) {
    const std::size_t taken = std::min(bytes.size(), block_size - pending);
    std::copy_n(bytes.begin(), taken, pending_.begin() + pending);
    bytes = bytes.subspan(taken);
    if (pending + taken < block_size) return;
    add_block(pending_.data());
  }
  for (; bytes.size() >= block_size; bytes = bytes.subspan(block_size)) add_block(bytes.data());
  pending_.fill(std::byte{0});
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

void Murmur3::add_block(const std::byte* block) {
  h1_ ^= mixed_first(number_at(block));
  h1_ = (std::rotl(h1_, 27) + h2_) * 5 + 0x52dce729;
  h2_ ^= mixed_second(number_at(block + 8));
  h2_ = (std::rotl(h2_, 31) + h1_) * 5 + 0x38495ab5;
}

std::string Murmur3::text() const {
  std::uint64_t h1 = h1_;
  std::uint64_t h2 = h2_;
  if (length_ % block_size > 0) {
    h1 ^= mixed_first(number_at(pending_.data()));
    h2 ^= mixed_second(number_at(pending_.data() + 8));
  }
  h1 ^= length_;
  h2 ^= length_;
  h1 += h2;
  h2 += h1;
  h1 = finished(h1);
  h2 = finished(h2);
  h1 += h2;
  h2 += h1;

  std::string digits;
  for (const std::uint64_t half : {h1, h2})
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(half >> shift) & 15];
  return digits;
}

}  // namespace weft
