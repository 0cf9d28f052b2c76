#include "train/text/tokenizers/internal/byte_letters.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "train/text/tokenizers/internal/unicode.hpp"

namespace weft::byte_pairs {
namespace {

bool is_printable(int byte) {
  return ('!' <= byte && byte <= '~') || (0xA1 <= byte && byte <= 0xAC) || byte >= 0xAE;
}

struct Letters {
  Letters() {
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
    const auto others = std::stable_partition(bytes.begin(), bytes.end(), is_printable);
    char32_t next = 0x100;
    for (auto byte = bytes.begin(); byte != bytes.end(); ++byte) {
      const char32_t letter = byte < others ? char32_t{*byte} : next++;
      letters[*byte] = letter;
      bytes_by_letter.emplace(letter, static_cast<char>(*byte));
    }
  }

  std::array<std::uint8_t, 256> bytes;
  std::array<char32_t, 256> letters;
  std::unordered_map<char32_t, char> bytes_by_letter;
};

const Letters& table() {
  static const Letters letters;
  return letters;
}

}  // namespace

const std::array<std::uint8_t, 256>& bytes_in_order() { return table().bytes; }

std::string letters_of(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes)
    unicode::append(letters, table().letters[static_cast<std::uint8_t>(byte)]);
  return letters;
}

std::optional<std::string> bytes_of(std::string_view letters) {
  std::string bytes;
  for (std::size_t at = 0; at < letters.size();) {
    const auto found = table().bytes_by_letter.find(unicode::next_code_point(letters, at));
    if (found == table().bytes_by_letter.end()) return std::nullopt;
    bytes += found->second;
  }
  return bytes;
}

std::string hexadecimal_name(char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto value = static_cast<std::uint8_t>(byte);
  return std::string("<0x") + digits[value / 16] + digits[value % 16] + '>';
}

}  // namespace weft::byte_pairs
