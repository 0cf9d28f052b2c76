// The printable characters that stand for bytes in GPT-2's files.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::byte_pairs {

// All bytes in the order of their letters: first the printable bytes of Latin-1, which stand for
// themselves, then all other bytes, whose letters are U+0100, U+0101, … (a space is "Ġ").
const std::array<std::uint8_t, 256>& bytes_in_order();

// Returns the letters of bytes, as UTF-8.
std::string letters_of(std::string_view bytes);

// Returns the bytes of letters, or nothing if a character is not the letter of a byte.
std::optional<std::string> bytes_of(std::string_view letters);

// Returns the name of a byte in SentencePiece's vocabularies, for example "<0x0A>".
std::string hexadecimal_name(char byte);

}  // namespace weft::byte_pairs
