// generate_speculatively: generation with a smaller model that proposes tokens.
#pragma once

#include <span>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/text/generation/generate.hpp"

namespace weft {

// What generate_speculatively returns.
struct SpeculativeText {
  TokenIds tokens;  // that follow the prompt
  // The numbers of tokens that the draft model proposed, and that the model accepted.
  Index proposed = 0, accepted = 0;
};

// The tokens that follow the prompt, with the same probabilities as those of `generate`, and with a
// temperature of 0 the same tokens: `draft`, a model of the same vocabulary, proposes the next
// `num_draft_tokens` tokens, and one pass of `model` over all of them accepts some and draws the
// one after them (Leviathan et al., 2023). It is faster when weights are read from memory for
// longer than computed with, the draft is ten or more times smaller, and most of its tokens are
// accepted. Tokens are drawn and given to on_token as by `generate`, which documents what this
// throws, too; throws ValueError also for another number of tokens in the vocabulary of `draft`,
// and unless num_draft_tokens > 0.
//   const TokenIds text = generate_speculatively(gpt, draft, TokenIds{5, 6, 7}).tokens;
template <class T>
WEFT_API SpeculativeText generate_speculatively(const Gpt<T>& model, const Gpt<T>& draft,
                                                std::span<const TokenId> prompt,
                                                const GenerateOptions& options = {},
                                                Index num_draft_tokens = 3);

}  // namespace weft
