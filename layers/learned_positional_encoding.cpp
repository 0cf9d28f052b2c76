#include "weft/layers/learned_positional_encoding.hpp"

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "layers/internal/checks.hpp"

namespace weft {

template <class T>
LearnedPositionalEncoding<T>::LearnedPositionalEncoding(
    const LearnedPositionalEncodingOptions& options, Random& random)
    : positions({.num_embeddings = options.max_len,
                 .embedding_dim = options.num_hiddens,
                 .standard_deviation = options.standard_deviation},
                random),
      dropout(options.dropout) {}

template <class T>
Var<T> LearnedPositionalEncoding<T>::operator()(const Var<T>& x) const {
  const Shape& table = positions.weight.shape();
  check_sequences("LearnedPositionalEncoding", x.shape(), table[1]);
  check_length("LearnedPositionalEncoding", x.shape()[1], table[0]);
  return dropout(x + slice(x.tape().parameter(positions.weight), 0, 0, x.shape()[1]));
}

template <class T>
void LearnedPositionalEncoding<T>::members(Members<T>& members) {
  members.type("LearnedPositionalEncoding");
  members("positions", positions);
  members("dropout", dropout);
}

template struct LearnedPositionalEncoding<float>;
template struct LearnedPositionalEncoding<double>;

}  // namespace weft
