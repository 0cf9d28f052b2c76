// generate: continues a prompt with a language model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/data/vocabulary.hpp"

namespace weft {

struct SamplingOptions {
  // Divides the logits, ≥ 0: below 1 prefers probable tokens, 0 always takes the most probable one.
  double temperature = 1.0;
  // The number of most probable tokens to choose from; 0: all.
  Index top_k = 0;
};

// A token at random, with the probabilities softmax(logits / temperature) among the top_k. Of
// tokens with equal logits, the first ones are preferred at the limit of top_k. Throws ValueError
// without logits and for options outside their ranges, and NonFiniteError for a logit that is NaN
// or +infinity, or when all are -infinity.
template <class T>
WEFT_API TokenId sample_token(std::span<const T> logits, const SamplingOptions& options,
                              Random& random);

struct GenerateOptions {
  Index max_tokens = 100;
  SamplingOptions sampling = {};
  std::uint64_t seed = 0;
  // The token that ends a text; it is not part of the result.
  std::optional<TokenId> end = {};
  // Called with each token of the result, as soon as it is chosen.
  std::function<void(TokenId)> on_token = {};
};

// The tokens that follow the prompt. When prompt and result are longer than the model's learned
// positions, the next token is predicted from as many of the last ones as there are positions.
// Throws ValueError for an empty prompt, a token outside the vocabulary and options outside their
// ranges, and what `sample_token` throws.
template <class T>
WEFT_API Sequence generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                           const GenerateOptions& options = {});

extern template TokenId sample_token(std::span<const float>, const SamplingOptions&, Random&);
extern template TokenId sample_token(std::span<const double>, const SamplingOptions&, Random&);
extern template Sequence generate(const Gpt<float>&, std::span<const TokenId>,
                                  const GenerateOptions&);
extern template Sequence generate(const Gpt<double>&, std::span<const TokenId>,
                                  const GenerateOptions&);

}  // namespace weft
