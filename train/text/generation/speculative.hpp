// generate_speculatively: speculative decoding, in which a smaller model proposes tokens.
#pragma once

#include <span>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/text/generation/generate.hpp"

namespace weft {

// The result of generate_speculatively.
struct SpeculativeText {
  TokenIds tokens;  // tokens after the prompt
  // The numbers of tokens that the draft model proposed and that the model accepted.
  Index proposed = 0, accepted = 0;
};

// Returns tokens after the prompt, with the same probabilities as `generate`, and the same tokens
// if the temperature is 0. `draft`, a smaller model with the same vocabulary, proposes the next
// `num_draft_tokens` tokens. One pass of `model` over the proposals accepts some of them and draws
// the token after them (Leviathan et al., 2023).
//
// This is faster than `generate` if a pass is limited by reading the weights from memory, `draft`
// is at least ten times smaller than `model`, and most of its tokens are accepted. Throws
// ValueError if the vocabularies have different sizes or num_draft_tokens is not positive, and the
// same exceptions as `generate`.
//   const TokenIds text = generate_speculatively(gpt, draft, TokenIds{5, 6, 7}).tokens;
template <class T>
WEFT_API SpeculativeText generate_speculatively(const Gpt<T>& model, const Gpt<T>& draft,
                                                std::span<const TokenId> prompt,
                                                const GenerateOptions& options = {},
                                                Index num_draft_tokens = 3);

}  // namespace weft
