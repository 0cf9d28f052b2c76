#include "weft/train/text/tokenizers/utf8_stream_decoder.hpp"

#include <utility>

#include "train/files/internal/code_point.hpp"

namespace weft {
namespace {

constexpr std::string_view replacement = "\uFFFD";

// Returns whether the bytes are the beginning of a character that further bytes can complete. After
// every first byte, 0x80 or 0xA0 is valid (The Unicode Standard, table 3-7).
bool begins_character(std::string_view bytes) {
  for (const std::string_view others : {"\x80\x80\x80", "\xA0\x80\x80"})
    if (first_code_point(std::string(bytes).append(others)).bytes > bytes.size()) return true;
  return false;
}

}  // namespace

std::string Utf8StreamDecoder::add(std::string_view bytes) {
  held_ += bytes;
  std::string result;
  std::string_view rest = held_;
  while (!rest.empty()) {
    std::size_t count = first_code_point(rest).bytes;
    const bool is_valid = count > 0;
    if (!is_valid) {
      count = 1;
      while (count < rest.size() && begins_character(rest.substr(0, count + 1))) ++count;
      if (count == rest.size() && begins_character(rest)) break;
    }
    result += is_valid ? rest.substr(0, count) : replacement;
    rest.remove_prefix(count);
  }
  held_ = std::string(rest);
  return result;
}

std::string Utf8StreamDecoder::finish() {
  return std::exchange(held_, {}).empty() ? "" : std::string(replacement);
}

}  // namespace weft
