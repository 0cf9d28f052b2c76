// CharacterTable: SentencePiece's table of characters and their replacements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/text/tokenizers/internal/text_budget.hpp"

namespace weft {

class CharacterTable {
 public:
  // `base64` is a "precompiled_charsmap". Throws ValueError for an invalid table.
  explicit CharacterTable(std::string_view base64);

  // Returns the text with its characters (each including the marks after it) replaced if they are
  // in the table. Throws ValueError if `budget` is exceeded.
  std::string mapped(std::string_view text, TextBudget& budget) const;

 private:
  // Appends the replacement of a string. Returns false if it is not in the table.
  bool append_mapped(std::string_view text, std::string& result) const;

  std::vector<std::uint32_t> tree_;  // a double array
  std::string replacements_;         // each ends with a zero byte
};

}  // namespace weft
