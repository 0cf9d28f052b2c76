// PaddedTokens: sequences of different lengths in one tensor.
#pragma once

#include <span>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

// A batch of sequences, padded at the end to the length of the longest.
struct PaddedTokens {
  Tokens tokens;         // [batch, longest]
  ValidLens valid_lens;  // [batch]
};

// Pads sequences to the longest of them; the result has tokens [sequences, longest]. Throws
// ValueError if `sequences` is empty.
//   const PaddedTokens padded = pad_sequences(std::vector<TokenIds>{{4, 5, 6}, {7}});  // [2, 3]
WEFT_API PaddedTokens pad_sequences(std::span<const TokenIds> sequences,
                                    TokenId pad = Vocabulary::pad);

// Throws ShapeError or ValueError, naming `what`, unless `padded` has tokens [examples, time] and,
// if set, valid_lens [examples] from 0 to time.
WEFT_API void check_padded(const std::string& what, const PaddedTokens& padded, Index examples);
// Returns rows [first, last), padded to the longest of them: tokens [last - first, longest].
WEFT_API PaddedTokens part_of(const PaddedTokens& padded, Index first, Index last);

}  // namespace weft
