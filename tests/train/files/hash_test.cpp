#include <set>
#include <string>

#include "tests/catch.hpp"
#include "train/files/internal/xxh128.hpp"

namespace weft {
namespace {

std::string hash_of(std::string_view text) {
  Xxh128 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.text();
}

const std::string fox = "The quick brown fox jumps over the lazy dog";

}  // namespace

TEST_CASE("hash: the values that the program xxh128sum prints", "[train]") {
  CHECK(hash_of("") == "99aa06d3014798d86001c324468d497f");
  CHECK(hash_of("weft") == "69aeedc904d9a734126c4f6354db18ad");
  std::string numbers;  // seq 1 100000
  for (int i = 1; i <= 100'000; ++i) numbers += std::to_string(i) + '\n';
  CHECK(hash_of(numbers) == "a6bb1ae3f57b6a512881c59907229fa4");
}

TEST_CASE("hash: a number of 64 bits is the lower half", "[train]") {
  Xxh128 hash;
  hash.add(std::as_bytes(std::span("weft", 4)));
  CHECK(hash.value() == 0x126c4f6354db18adU);
}

TEST_CASE("hash: the portions in which bytes are added do not matter", "[train]") {
  for (std::size_t first = 0; first <= fox.size(); ++first)
    for (std::size_t second = first; second <= fox.size(); ++second) {
      Xxh128 hash;
      const auto bytes = std::as_bytes(std::span(fox));
      hash.add(bytes.first(first));
      hash.add(bytes.subspan(first, second - first));
      hash.add(bytes.subspan(second));
      REQUIRE(hash.text() == hash_of(fox));
    }
}

TEST_CASE("hash: every flipped bit and every length gives another value", "[train]") {
  const std::string text(45, 'w');
  std::set<std::string> seen{hash_of(text)};
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      CHECK(seen.insert(hash_of(changed)).second);
    }
    CHECK(seen.insert(hash_of(text.substr(0, i))).second);
  }
}

}  // namespace weft
