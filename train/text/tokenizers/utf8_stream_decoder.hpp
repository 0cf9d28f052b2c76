// Utf8StreamDecoder: decodes UTF-8 that arrives in pieces.
#pragma once

#include <string>
#include <string_view>

#include "weft/autograd/export.hpp"

namespace weft {

// Decodes UTF-8 that arrives in pieces, such as the tokens of a BytePairEncoding, which need not be
// whole characters. The output is always valid UTF-8: each maximal part of an incomplete character
// and each other invalid byte becomes U+FFFD (The Unicode Standard, section 3.9).
//   Utf8StreamDecoder characters;
//   for (const char byte : {'\xc3', '\xa9'}) std::cout << characters.add({&byte, 1});  // é
class WEFT_API Utf8StreamDecoder {
 public:
  // Adds bytes. Returns the characters that are now complete, and holds back the bytes of an
  // incomplete character.
  std::string add(std::string_view bytes);
  // Ends the input. Returns U+FFFD for bytes that are held back, or an empty string.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace weft
