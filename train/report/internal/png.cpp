#include "train/report/internal/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace weft {
namespace {

const Bytef* bytes_of(const std::string& text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

// Returns a chunk of a PNG file: length, name, contents, and checksum.
std::string chunk(const std::string& name, const std::string& contents) {
  const std::string body = name + contents;
  const auto sum = crc32(0, bytes_of(body), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(contents.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

}  // namespace

std::string png_of(const Tensor<float>& weights, Index cell) {
  const Index rows = weights.shape()[0], columns = weights.shape()[1];
  std::string lines;
  for (Index row = 0; row < rows; ++row) {
    std::string line(1, '\0');  // no filter
    for (Index column = 0; column < columns; ++column) {
      const float weight = weights(row, column);
      const long grey = std::lround(255.0f * (weight >= 0.0f ? std::min(weight, 1.0f) : 0.0f));
      line.append(static_cast<std::size_t>(cell), static_cast<char>(grey));
    }
    for (Index i = 0; i < cell; ++i) lines += line;
  }
  uLongf size = compressBound(static_cast<uLong>(lines.size()));
  std::string compressed(size, '\0');
  compress(reinterpret_cast<Bytef*>(compressed.data()), &size, bytes_of(lines),
           static_cast<uLong>(lines.size()));
  compressed.resize(size);
  const std::string header = big_endian(static_cast<std::uint32_t>(columns * cell)) +
                             big_endian(static_cast<std::uint32_t>(rows * cell)) +
                             std::string("\x08\0\0\0\0", 5);  // 8 bits of grey
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", compressed) +
         chunk("IEND", "");
}

}  // namespace weft
