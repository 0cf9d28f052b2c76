// generate: continues a prompt with a language model.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "weft/autograd/export.hpp"
#include "weft/layers/models/gpt.hpp"
#include "weft/train/data/vocabulary.hpp"
#include "weft/train/generation/sampling.hpp"

namespace weft {

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
// ranges, and what `Sampler` throws.
template <class T>
WEFT_API Sequence generate(const Gpt<T>& model, std::span<const TokenId> prompt,
                           const GenerateOptions& options = {});

extern template Sequence generate(const Gpt<float>&, std::span<const TokenId>,
                                  const GenerateOptions&);
extern template Sequence generate(const Gpt<double>&, std::span<const TokenId>,
                                  const GenerateOptions&);

}  // namespace weft
