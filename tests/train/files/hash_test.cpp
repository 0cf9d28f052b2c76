#include <set>
#include <string>

#include "tests/catch.hpp"
#include "train/files/murmur3.hpp"
#include "train/files/xxh128.hpp"

namespace weft {
namespace {

template <class Hash>
std::string hash_of(std::string_view text) {
  Hash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.text();
}

const std::string fox = "The quick brown fox jumps over the lazy dog";

}  // namespace

TEST_CASE("hash: published values of MurmurHash3_x64_128", "[train]") {
  CHECK(hash_of<Murmur3>("") == "00000000000000000000000000000000");
  CHECK(hash_of<Murmur3>("hello") == "cbd8a7b341bd9b025b1e906a48ae1d19");
  CHECK(hash_of<Murmur3>(fox) == "e34bbc7bbc071b6c7a433ca9c49a9347");
}

TEST_CASE("hash: the values that the program xxh128sum prints", "[train]") {
  CHECK(hash_of<Xxh128>("") == "99aa06d3014798d86001c324468d497f");
  CHECK(hash_of<Xxh128>("weft") == "69aeedc904d9a734126c4f6354db18ad");
  std::string numbers;  // seq 1 100000
  for (int i = 1; i <= 100'000; ++i) numbers += std::to_string(i) + '\n';
  CHECK(hash_of<Xxh128>(numbers) == "a6bb1ae3f57b6a512881c59907229fa4");
}

TEMPLATE_TEST_CASE("hash: the portions in which bytes are added do not matter", "[train]", Murmur3,
                   Xxh128) {
  for (std::size_t first = 0; first <= fox.size(); ++first)
    for (std::size_t second = first; second <= fox.size(); ++second) {
      TestType hash;
      const auto bytes = std::as_bytes(std::span(fox));
      hash.add(bytes.first(first));
      hash.add(bytes.subspan(first, second - first));
      hash.add(bytes.subspan(second));
      REQUIRE(hash.text() == hash_of<TestType>(fox));
    }
}

TEMPLATE_TEST_CASE("hash: every flipped bit and every length gives another value", "[train]",
                   Murmur3, Xxh128) {
  const std::string text(45, 'w');
  std::set<std::string> seen{hash_of<TestType>(text)};
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      CHECK(seen.insert(hash_of<TestType>(changed)).second);
    }
    CHECK(seen.insert(hash_of<TestType>(text.substr(0, i))).second);
  }
}

}  // namespace weft
