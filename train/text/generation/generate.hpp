// generate: continues prompts with a language model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/text/generation/sampling.hpp"

namespace weft {

struct GenerateOptions {
  Index max_tokens = 100;         // of a result
  SamplingOptions sampling = {};  // how tokens are chosen
  // Seed for the first prompt; later prompts use seed + 1, seed + 2, …
  std::uint64_t seed = 0;
  // Tokens that end a text. The end token is not part of the result.
  TokenIds eos_token_ids = {};
  // Called with the index of a prompt and each token of its result, as soon as it is chosen.
  // Returns whether to go on with this prompt.
  std::function<bool(Index prompt, TokenId token)> on_token = {};
  // The maximum number of tokens that the next token is predicted from; when not given, the number
  // of the model's learned positions, and no limit with rotary ones.
  std::optional<Index> max_context = {};
  // Of the matrix products for prompts; see TapeOptions. For weights of 16 bits (round_to_bf16),
  // whose tokens after the prompt are faster in either.
  Precision precision = Precision::full;
};

// The maximum number of tokens that `model` predicts the next token from: its learned positions, or
// `limit` when given. Throws ValueError unless limit > 0, and for one above the number of
// positions.
template <class T>
WEFT_API Index max_context_of(const Gpt<T>& model, std::optional<Index> limit = {});

// The first token of a text that a model with this maximum context predicts the token after
// `length` tokens from. When the context is full, it slides: half of it (rounded up) is kept, so
// that the keys and values of the tokens in it, which depend on their positions, are computed again
// once per half a context.
WEFT_API Index context_begin(Index prompt_length, Index length, Index max_context);

// The tokens that follow each prompt, with the keys and values of earlier tokens kept (see
// KeyValueCache). A prompt's result does not depend on the other prompts, but for rounding when
// there are more than 16. Throws ValueError for an empty prompt, a token outside the vocabulary,
// options outside their ranges, and a max_context above the number of learned positions, and what
// Sampler throws.
//   const TokenIds text = generate(gpt, TokenIds{5, 6, 7}, {.sampling = {.temperature = 0.8}});
template <class T>
WEFT_API std::vector<TokenIds> generate(const Gpt<T>& model, std::span<const TokenIds> prompts,
                                        const GenerateOptions& options = {});
// The tokens that follow one prompt; throws as for several.
template <class T>
WEFT_API TokenIds generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                           const GenerateOptions& options = {});

}  // namespace weft
