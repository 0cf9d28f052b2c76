#include "train/files/internal/checksummed_file.hpp"

#include <fstream>
#include <string>

#include <weft/autograd/error.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/files/internal/random_access_file.hpp"

using namespace weft;

namespace {

// Several buffers and a part of one.
std::string long_text() {
  std::string text(700'001, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i / 777 % 26);
  return text;
}

void seal(const std::filesystem::path& path, const std::string& text, std::size_t piece) {
  ChecksummedFile file(path);
  for (std::size_t at = 0; at < text.size(); at += piece)
    file.write(std::as_bytes(std::span(text).subspan(at, std::min(piece, text.size() - at))));
  CHECK(file.size() == text.size());
  file.commit();
}

}  // namespace

TEST_CASE("sealed file: what was written, and the checksum of all of it in a last line",
          "[train]") {
  const TemporaryFolder folder;
  const std::string text = long_text();
  for (const std::size_t piece : {std::size_t{999}, std::size_t{262'144}, text.size()}) {
    seal(folder / "file", text, piece);
    const std::string bytes = bytes_of(folder / "file");
    CHECK(bytes.size() == text.size() + checksum_line_size);
    CHECK(bytes.starts_with(text));
    const RandomAccessFile file(folder / "file");
    CHECK(has_checksum_line(file));
    verify_checksum_line(file, folder / "file");
  }
}

TEST_CASE("sealed file: a change of any byte is noticed", "[train]") {
  const TemporaryFolder folder;
  const std::string text = long_text();
  seal(folder / "file", text, text.size());
  const std::string bytes = bytes_of(folder / "file");
  const auto message = [&](const std::string& changed) {
    std::ofstream(folder / "file", std::ios::binary) << changed;
    return message_of<FileError>(
        [&] { verify_checksum_line(RandomAccessFile(folder / "file"), folder / "file"); });
  };
  CHECK(message(bytes).empty());
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{262'143}, std::size_t{262'144}, std::size_t{524'289},
        text.size() - 1, text.size(), bytes.size() - 2}) {
    std::string changed = bytes;
    changed[at] = '#';
    CHECK(message(changed).find("the checksum of its contents") != std::string::npos);
  }
  CHECK_FALSE(message(bytes.substr(1)).empty());
  CHECK_FALSE(message(bytes.substr(0, bytes.size() - 1)).empty());
  CHECK_FALSE(message("short").empty());
  CHECK_FALSE(has_checksum_line(RandomAccessFile(folder / "file")));
}
