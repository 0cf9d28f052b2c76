#include "train/files/digest.hpp"

#include <set>
#include <string>

#include "tests/catch.hpp"

namespace weft {
namespace {

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.text();
}

}  // namespace

TEST_CASE("digest: published values of MurmurHash3_x64_128", "[train]") {
  CHECK(digest_of("") == "00000000000000000000000000000000");
  CHECK(digest_of("hello") == "cbd8a7b341bd9b025b1e906a48ae1d19");
  CHECK(digest_of("The quick brown fox jumps over the lazy dog") ==
        "e34bbc7bbc071b6c7a433ca9c49a9347");
}

TEST_CASE("digest: the portions in which bytes come do not matter", "[train]") {
  const std::string text = "The quick brown fox jumps over the lazy dog";
  for (std::size_t first = 0; first <= text.size(); ++first)
    for (std::size_t second = first; second <= text.size(); ++second) {
      Digest digest;
      const auto bytes = std::as_bytes(std::span(text));
      digest.add(bytes.first(first));
      digest.add(bytes.subspan(first, second - first));
      digest.add(bytes.subspan(second));
      REQUIRE(digest.text() == "e34bbc7bbc071b6c7a433ca9c49a9347");
    }
}

TEST_CASE("digest: every flipped bit and every length gives another one", "[train]") {
  const std::string text(45, 'w');
  std::set<std::string> seen{digest_of(text)};
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      CHECK(seen.insert(digest_of(changed)).second);
    }
    CHECK(seen.insert(digest_of(text.substr(0, i))).second);
  }
}

}  // namespace weft
