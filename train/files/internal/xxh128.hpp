// Xxh128: a 128-bit hash of bytes, to detect changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weft {

// XXH3's 128-bit hash (Yann Collet's xxHash) with seed 0. Not cryptographic: it does not resist
// forgery.
class Xxh128 {
 public:
  Xxh128();
  ~Xxh128();
  Xxh128(const Xxh128&) = delete;
  Xxh128& operator=(const Xxh128&) = delete;

  // Adds bytes. Adding them in several calls produces the same hash.
  void add(std::span<const std::byte> bytes);
  // Return the hash of all bytes added: as 32 hexadecimal digits, and its lower 64 bits.
  std::string text() const;
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft
