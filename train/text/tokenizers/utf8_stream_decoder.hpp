// Utf8StreamDecoder: text that arrives in pieces, as characters.
#pragma once

#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// For printing the tokens of a BytePairEncoding, which need not be whole characters, one after
// another. What comes out is always UTF-8: U+FFFD is in the place of invalid bytes, one for each
// longest part of a character that breaks off (The Unicode Standard, section 3.9).
//   Utf8StreamDecoder characters;
//   for (const char byte : {'\xc3', '\xa9'}) std::cout << characters.add({&byte, 1});  // é
class WEFT_API Utf8StreamDecoder {
 public:
  // Returns the characters that are complete now, and holds back the bytes of one that is not.
  std::string add(std::string_view bytes);
  // Returns what stands for the bytes that are held back; empty if there are none.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace weft
