// GPT-2's printable characters for bytes, in which its files write tokens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::byte_pairs {

// All bytes in the order of their letters: first the printable ones of Latin-1, which stand for
// themselves, then the others, whose letters are U+0100, U+0101, … (a space is "Ġ").
const std::array<std::uint8_t, 256>& bytes_in_order();

// The letters of bytes, as UTF-8.
std::string letters_of(std::string_view bytes);

// The bytes of letters; nothing when a character is not the letter of a byte.
std::optional<std::string> bytes_of(std::string_view letters);

// The name of a byte in SentencePiece's vocabularies: "<0x0A>".
std::string hexadecimal_name(char byte);

}  // namespace weft::byte_pairs
