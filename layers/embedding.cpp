#include "weft/layers/embedding.hpp"

#include <algorithm>

#include "weft/autograd/ops/embedding.hpp"
#include "layers/internal/checks.hpp"

namespace weft {

template <class T>
Embedding<T>::Embedding(const EmbeddingOptions& options, Random& random)
    : padding_idx(options.padding_idx) {
  check_positive("Embedding: num_embeddings", options.num_embeddings);
  check_positive("Embedding: embedding_dim", options.embedding_dim);
  check_finite_non_negative("Embedding: standard_deviation", options.standard_deviation);
  const Index count = options.num_embeddings, size = options.embedding_dim;
  if (padding_idx && (*padding_idx < 0 || *padding_idx >= count))
    fail<ValueError>("Embedding: padding_idx", "an id from " + index_range(count), *padding_idx);
  Tensor<T> vectors = random.normal_tensor<T>({count, size}, 0.0, options.standard_deviation);
  if (padding_idx) std::fill_n(vectors.data() + *padding_idx * size, size, T{0});
  weight = Parameter<T>(std::move(vectors));
}

template <class T>
Var<T> Embedding<T>::operator()(Tape<T>& tape, const Tokens& tokens) const {
  return embedding(tokens, tape.parameter(weight), padding_idx);
}

template <class T>
void Embedding<T>::members(Members<T>& members) const {
  members.type("Embedding", str_cat(weight.shape()[0], ", ", weight.shape()[1],
                                    padding_idx ? str_cat(", padding_idx=", *padding_idx) : ""));
  members("weight", weight);
}

template struct Embedding<float>;
template struct Embedding<double>;

}  // namespace weft
