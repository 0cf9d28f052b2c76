#include "train/files/hdf5/internal/checksum.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace weft::hdf5 {
namespace {

// Bytes are taken as little-endian numbers, which is what they are on every machine of weft.
static_assert(std::endian::native == std::endian::little);

using Words = std::array<std::uint32_t, 3>;

void mix(Words& words) {
  auto& [a, b, c] = words;
  a = (a - c) ^ std::rotl(c, 4), c += b;
  b = (b - a) ^ std::rotl(a, 6), a += c;
  c = (c - b) ^ std::rotl(b, 8), b += a;
  a = (a - c) ^ std::rotl(c, 16), c += b;
  b = (b - a) ^ std::rotl(a, 19), a += c;
  c = (c - b) ^ std::rotl(b, 4), b += a;
}

void mix_last(Words& words) {
  auto& [a, b, c] = words;
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  c = (c ^ b) - std::rotl(b, 24);
}

}  // namespace

std::uint32_t lookup3(Bytes bytes) {
  Words words;
  words.fill(0xDEADBEEF + static_cast<std::uint32_t>(bytes.size()));
  while (!bytes.empty()) {
    Words block{};  // zeros after the last byte
    const std::size_t size = std::min(bytes.size(), sizeof block);
    std::memcpy(block.data(), bytes.data(), size);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += block[i];
    bytes = bytes.subspan(size);
    bytes.empty() ? mix_last(words) : mix(words);
  }
  return words[2];
}

void check_checksum(std::uint64_t checksum, Bytes bytes) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  constexpr bool is_checked = false;  // changed files would end here; clang's fuzzer defines it
#else
  constexpr bool is_checked = true;
#endif
  if (is_checked && checksum != lookup3(bytes))
    fail_with_damage("a structure with another checksum");
}

Bytes without_checksum(Bytes structure) {
  Cursor cursor(structure);
  const Bytes contents = cursor.take(structure.size() - std::min(checksum_size, structure.size()));
  check_checksum(cursor.number(checksum_size), contents);
  return contents;
}

}  // namespace weft::hdf5
