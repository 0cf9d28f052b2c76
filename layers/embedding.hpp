// Embedding: a learned vector for every token.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct EmbeddingOptions {
  // The size of the vocabulary.
  Index num_embeddings = 0;
  // The size of the vectors.
  Index embedding_dim = 0;
  // The standard deviation of the normal distribution, of mean 0, from which the vectors are
  // initialized: 1 in PyTorch, 0.02 in GPT-2.
  double standard_deviation = 1.0;
  // The token of padding: its vector is initialized with zeros and gets no gradient.
  std::optional<TokenId> padding_idx = {};
};

// `y_i = weight[tokens_i]`: looks up a learned vector for every token (torch.nn.Embedding).
//   Embedding embedding({.num_embeddings = 10, .embedding_dim = 8}, random);
//   Var y = embedding(tape, tokens);  // tokens [2, 5], y [2, 5, 8]
template <class T = float>
struct WEFT_API Embedding : Module<T> {
  // Throws ValueError unless both sizes are > 0, the standard deviation is finite and ≥ 0, and
  // padding_idx is in [0, num_embeddings).
  Embedding(const EmbeddingOptions& options, Random& random);

  // Returns the vectors [..., embedding_dim] of tokens [...]. Throws ValueError for a token that is
  // negative or ≥ num_embeddings; the message contains its position.
  Var<T> operator()(Tape<T>& tape, const Tokens& tokens) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;                 // [num_embeddings, embedding_dim]
  std::optional<TokenId> padding_idx;  // see EmbeddingOptions
};

extern template struct Embedding<float>;
extern template struct Embedding<double>;

}  // namespace weft
