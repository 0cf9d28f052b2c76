// Words: how GPT-2 splits a text before it encodes the parts.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft::byte_pairs {

// The end of the word that begins at `begin` < text.size(), in valid UTF-8. The pattern is GPT-2's:
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// English contractions; letters, numbers or other characters, with one space before them; and white
// space, without the last character where a word follows, which is its space or a word of its own.
std::size_t word_end(std::string_view text, std::size_t begin);

}  // namespace weft::byte_pairs
