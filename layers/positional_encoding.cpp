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

// Returns x + table[:time], where table [max_len, num_hiddens] belongs to `layer`.
template <class T>
Var<T> add_positions(const char* layer, const Var<T>& x, const Var<T>& table) {
  check_sequences(layer, x.shape(), table.shape()[1]);
  const Index time = x.shape()[1], max_len = table.shape()[0];
  if (time > max_len)
    fail<ValueError>(layer, str_cat("a sequence length of at most ", max_len, " (max_len)"), time);
  return x + slice(table, 0, 0, time);
}

// Returns x + table[positions].
template <class T>
Var<T> add_positions(const char* layer, const Var<T>& x, const Var<T>& table,
                     const Tokens& positions) {
  check_sequences(layer, x.shape(), table.shape()[1]);
  if (const Shape expected{x.shape()[0], x.shape()[1]}; positions.shape() != expected)
    fail<ShapeError>(str_cat(layer, ": positions"), expected, positions.shape());
  return x + embedding(positions, table);
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
  return dropout(add_positions("PositionalEncoding", x, x.tape().constant(table_)));
}

template <class T>
Var<T> PositionalEncoding<T>::operator()(const Var<T>& x, const Tokens& positions) const {
  return dropout(add_positions("PositionalEncoding", x, x.tape().constant(table_), positions));
}

template <class T>
void PositionalEncoding<T>::members(Members<T>& members) const {
  members.type("PositionalEncoding");
  members("dropout", dropout);
}

template <class T>
LearnedPositionalEncoding<T>::LearnedPositionalEncoding(
    const LearnedPositionalEncodingOptions& options, Random& random)
    : dropout(options.dropout) {
  check_positive("LearnedPositionalEncoding: num_hiddens", options.num_hiddens);
  check_positive("LearnedPositionalEncoding: max_len", options.max_len);
  check_finite_non_negative("LearnedPositionalEncoding: standard_deviation",
                            options.standard_deviation);
  weight = Parameter<T>(random.normal_tensor<T>({options.max_len, options.num_hiddens}, 0.0,
                                                options.standard_deviation));
}

template <class T>
Var<T> LearnedPositionalEncoding<T>::operator()(const Var<T>& x) const {
  return dropout(add_positions("LearnedPositionalEncoding", x, x.tape().parameter(weight)));
}

template <class T>
Var<T> LearnedPositionalEncoding<T>::operator()(const Var<T>& x, const Tokens& positions) const {
  return dropout(
      add_positions("LearnedPositionalEncoding", x, x.tape().parameter(weight), positions));
}

template <class T>
void LearnedPositionalEncoding<T>::members(Members<T>& members) const {
  members.type("LearnedPositionalEncoding", str_cat(weight.shape()[0], ", ", weight.shape()[1]));
  members("weight", weight);
  members("dropout", dropout);
}

template struct PositionalEncoding<float>;
template struct PositionalEncoding<double>;
template struct LearnedPositionalEncoding<float>;
template struct LearnedPositionalEncoding<double>;

}  // namespace weft
