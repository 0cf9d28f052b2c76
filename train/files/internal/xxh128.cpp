#include "train/files/internal/xxh128.hpp"

// Includes xxHash as inline functions, so that no library must be linked.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft {

struct Xxh128::State {
  XXH3_state_t hash;
};

Xxh128::Xxh128() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->hash); }

Xxh128::~Xxh128() = default;

void Xxh128::add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::string Xxh128::text() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->hash);
  std::string digits;
  for (const XXH64_hash_t half : {hash.high64, hash.low64})
    for (int shift = 60; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(half >> shift) & 15];
  return digits;
}

std::uint64_t Xxh128::value() const { return XXH3_128bits_digest(&state_->hash).low64; }

}  // namespace weft
