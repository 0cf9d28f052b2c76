#include "weft/layers/embedding.hpp"

#include "weft/autograd/ops/embedding.hpp"
#include "layers/internal/checks.hpp"

namespace weft {

template <class T>
Embedding<T>::Embedding(const EmbeddingOptions& options, Random& random) {
  check_positive("Embedding: num_embeddings", options.num_embeddings);
  check_positive("Embedding: embedding_dim", options.embedding_dim);
  check_finite_non_negative("Embedding: standard_deviation", options.standard_deviation);
  weight = Parameter<T>(random.normal_tensor<T>({options.num_embeddings, options.embedding_dim},
                                                0.0, options.standard_deviation));
}

template <class T>
Var<T> Embedding<T>::operator()(Tape<T>& tape, const Tokens& tokens) const {
  return embedding(tokens, tape.parameter(weight));
}

template <class T>
void Embedding<T>::members(Members<T>& members) const {
  members.type("Embedding", str_cat(weight.shape()[0], ", ", weight.shape()[1]));
  members("weight", weight);
}

template struct Embedding<float>;
template struct Embedding<double>;

}  // namespace weft
