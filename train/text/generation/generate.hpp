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

// Options of generate and generate_speculatively.
struct GenerateOptions {
  Index max_tokens = 100;  // maximum number of tokens after a prompt
  // Until this many tokens follow a prompt, no token of `eos_token_ids` is chosen (transformers'
  // min_new_tokens).
  Index min_tokens = 0;
  SamplingOptions sampling = {};  // how tokens are chosen
  // Seed for the first prompt; later prompts use seed + 1, seed + 2, …
  std::uint64_t seed = 0;
  // Tokens that end the generation. They are not part of the result.
  TokenIds eos_token_ids = {};
  // If set, called before each token is chosen, with the index of the prompt, the context and the
  // logits [vocabulary] of the next token. It may change the logits; -infinity excludes a token.
  // The options in `sampling` apply afterwards.
  std::function<void(Index prompt, std::span<const TokenId> context, std::span<double> logits)>
      process_logits = {};
  // If set, called with the index of a prompt and each of its tokens, as soon as the token is
  // chosen. Returns whether to continue with this prompt.
  std::function<bool(Index prompt, TokenId token)> on_token = {};
  // The maximum number of tokens that the next token is predicted from. If not set, it is the
  // number of learned positions; without learned positions, there is no limit.
  std::optional<Index> max_context = {};
  // The precision of matrix products for prompts; see TapeOptions. A lower precision is meant for
  // 16-bit weights (see round_to_bf16). Later tokens are faster with such weights in any precision.
  Precision precision = Precision::full;
};

// Returns the maximum number of tokens that `model` predicts the next token from: `limit` if set,
// otherwise the number of learned positions, or the largest Index if it has none. Throws ValueError
// if `limit` is not positive or exceeds the number of learned positions.
template <class T>
WEFT_API Index max_context_of(const Gpt<T>& model, std::optional<Index> limit = {});

// Returns the index of the first token in the context from which the token after `length` tokens is
// predicted. When the context is full, it slides: half of it (rounded up) is kept. Keys and values
// depend on positions, so they are recomputed after each slide, once per half a context.
WEFT_API Index context_begin(Index prompt_length, Index length, Index max_context);

// Returns the tokens generated after each prompt, using a KeyValueCache. The result for a prompt
// does not depend on the other prompts, except for rounding if there are more than 16. Throws
// ValueError for an empty prompt, a token outside the vocabulary, options outside their ranges, and
// a max_context above the number of learned positions, and the same exceptions as Sampler.
//   const TokenIds text = generate(gpt, TokenIds{5, 6, 7}, {.sampling = {.temperature = 0.8}});
template <class T>
WEFT_API std::vector<TokenIds> generate(const Gpt<T>& model, std::span<const TokenIds> prompts,
                                        const GenerateOptions& options = {});
// Returns the tokens generated after one prompt. Throws the same exceptions as `generate` for
// several prompts.
template <class T>
WEFT_API TokenIds generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                           const GenerateOptions& options = {});

}  // namespace weft
