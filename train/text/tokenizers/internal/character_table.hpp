// CharacterTable: SentencePiece's table of characters and what they become.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/text/tokenizers/internal/text_budget.hpp"

namespace weft {

class CharacterTable {
 public:
  // `base64` is a "precompiled_charsmap". Throws ValueError for what is none.
  explicit CharacterTable(std::string_view base64);

  // The text with its characters, each with the marks after it, replaced where the table has them.
  // Throws ValueError if `budget` does not suffice.
  std::string mapped(std::string_view text, TextBudget& budget) const;

 private:
  // Appends what a text becomes; returns false when the table does not have it.
  bool append_mapped(std::string_view text, std::string& result) const;

  std::vector<std::uint32_t> tree_;  // a double array
  std::string replacements_;         // each ends with a zero byte
};

}  // namespace weft
