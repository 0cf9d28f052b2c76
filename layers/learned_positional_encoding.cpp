#include "weft/layers/learned_positional_encoding.hpp"

#include <cmath>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/embedding.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "layers/internal/checks.hpp"

namespace weft {

template <class T>
LearnedPositionalEncoding<T>::LearnedPositionalEncoding(
    const LearnedPositionalEncodingOptions& options, Random& random)
    : dropout(options.dropout) {
  check_positive("LearnedPositionalEncoding: num_hiddens", options.num_hiddens);
  check_positive("LearnedPositionalEncoding: max_len", options.max_len);
  if (!(std::isfinite(options.standard_deviation) && options.standard_deviation >= 0))
    fail<ValueError>("LearnedPositionalEncoding: standard_deviation", "a finite value ≥ 0",
                     options.standard_deviation);
  weight = Parameter<T>(random.normal_tensor<T>({options.max_len, options.num_hiddens}, 0.0,
                                                options.standard_deviation));
}

template <class T>
Var<T> LearnedPositionalEncoding<T>::operator()(const Var<T>& x) const {
  const Shape& table = weight.shape();
  check_sequences("LearnedPositionalEncoding", x.shape(), table[1]);
  check_length("LearnedPositionalEncoding", x.shape()[1], table[0]);
  return dropout(x + slice(x.tape().parameter(weight), 0, 0, x.shape()[1]));
}

template <class T>
Var<T> LearnedPositionalEncoding<T>::operator()(const Var<T>& x, const Tokens& positions) const {
  check_sequences("LearnedPositionalEncoding", x.shape(), weight.shape()[1]);
  check_positions("LearnedPositionalEncoding", x.shape(), positions.shape());
  return dropout(x + embedding(positions, x.tape().parameter(weight)));
}

template <class T>
void LearnedPositionalEncoding<T>::members(Members<T>& members) const {
  members.type("LearnedPositionalEncoding",
               concatenate_text(weight.shape()[0], ", ", weight.shape()[1]));
  members("weight", weight);
  members("dropout", dropout);
}

template struct LearnedPositionalEncoding<float>;
template struct LearnedPositionalEncoding<double>;

}  // namespace weft
