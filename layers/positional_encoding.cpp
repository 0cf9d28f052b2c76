#include "weft/layers/positional_encoding.hpp"

#include <cmath>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/embedding.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

template <class T>
Tensor<T> sinusoids(Index positions, Index d) {
  auto table = Tensor<T>::uninitialized({positions, d});
  for (Index column = 0; column < d; ++column) {
    const auto even = static_cast<double>(column - column % 2);
    const double wavelength = std::pow(10000.0, even / static_cast<double>(d));
    for (Index i = 0; i < positions; ++i) {
      const double angle = static_cast<double>(i) / wavelength;
      table(i, column) = static_cast<T>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

}  // namespace

template <class T>
PositionalEncoding<T>::PositionalEncoding(const PositionalEncodingOptions& options)
    : dropout(options.dropout) {
  check_positive("PositionalEncoding: num_hiddens", options.num_hiddens);
  check_positive("PositionalEncoding: max_len", options.max_len);
  table_ = sinusoids<T>(options.max_len, options.num_hiddens);
}

template <class T>
Var<T> PositionalEncoding<T>::operator()(const Var<T>& x) const {
  check_sequences("PositionalEncoding", x.shape(), table_.shape()[1]);
  const Index time = x.shape()[1];
  check_length("PositionalEncoding", time, table_.shape()[0]);
  return dropout(x + slice(x.tape().constant(table_), 0, 0, time));
}

template <class T>
Var<T> PositionalEncoding<T>::operator()(const Var<T>& x, const Tokens& positions) const {
  check_sequences("PositionalEncoding", x.shape(), table_.shape()[1]);
  check_positions("PositionalEncoding", x.shape(), positions.shape());
  return dropout(x + embedding(positions, x.tape().constant(table_)));
}

template <class T>
void PositionalEncoding<T>::members(Members<T>& members) const {
  members.type("PositionalEncoding");
  members("dropout", dropout);
}

template struct PositionalEncoding<float>;
template struct PositionalEncoding<double>;

}  // namespace weft
