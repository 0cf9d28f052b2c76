#include "train/files/internal/random_access_file.hpp"

#include <array>
#include <fstream>
#include <string>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

std::filesystem::path written(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace

TEST_CASE("open file: the bytes that it has, and no others", "[train]") {
  const TemporaryFolder folder;
  const RandomAccessFile file(written(folder / "file", "0123456789"));
  CHECK(file.size() == 10);
  std::array<char, 4> bytes{};
  const auto read = [&](std::uint64_t offset, std::size_t count = 4) {
    return file.read(offset, std::as_writable_bytes(std::span(bytes).first(count)));
  };
  CHECK(read(6));
  CHECK(std::string(bytes.begin(), bytes.end()) == "6789");
  CHECK(read(10, 0));
  for (const std::uint64_t offset :
       {std::uint64_t{7}, std::uint64_t{10}, std::uint64_t{11}, ~std::uint64_t{0}})
    CHECK_FALSE(read(offset));
  CHECK_FALSE(read(11, 0));
  std::filesystem::resize_file(folder / "file", 8);
  CHECK_FALSE(read(6));
  CHECK(read(4));
}

TEST_CASE("open file: all bytes of a file, up to a limit", "[train]") {
  const TemporaryFolder folder;
  const std::string text(100'000, 'x');
  const std::filesystem::path path = written(folder / "file", text);
  CHECK((file_contents(path) == text));
  CHECK((file_contents(path, text.size()) == text));
  CHECK(message_of<FileError>([&] {
          file_contents(path, text.size() - 1);
        }).ends_with("expected a file of at most 99999 bytes, got 100000 bytes"));
  CHECK_FALSE(file_contents(folder / "none").has_value());
  CHECK_THROWS_AS(file_contents(folder.path()), FileError);
  CHECK_THROWS_AS(file_contents("/dev/zero"), FileError);
}
