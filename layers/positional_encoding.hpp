// PositionalEncoding and LearnedPositionalEncoding: add a fixed or a learned vector to each
// position.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct PositionalEncodingOptions {
  Index num_hiddens = 0;  // the size of the vectors
  double dropout = 0.0;   // the probability of dropping an element of the sum
  // The maximum sequence length.
  Index max_len = 1000;
};

// Adds sinusoids that encode the position to vectors of size d = num_hiddens, which may be odd
// (Vaswani et al., 2017, section 3.5):
//   P[i, 2j] = sin(i / 10000^(2j/d)),  P[i, 2j+1] = cos(i / 10000^(2j/d))
// The layer has no parameters.
//   PositionalEncoding position({.num_hiddens = 8, .dropout = 0.1, .max_len = 100});
//   Var y = position(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API PositionalEncoding : Module<T> {
  // Throws ValueError unless the sizes are > 0 and 0 ≤ dropout ≤ 1.
  explicit PositionalEncoding(const PositionalEncodingOptions& options);

  // Returns `dropout(x + P[:time])` for x [batch, time, num_hiddens]; the result has the same
  // shape. Throws ShapeError, and ValueError if time > max_len.
  Var<T> operator()(const Var<T>& x) const;
  // Returns `dropout(x + P[positions])` for x [batch, time, num_hiddens] and positions [batch,
  // time]; the result has the shape of x. Throws ShapeError, and ValueError unless
  // 0 ≤ positions < max_len.
  Var<T> operator()(const Var<T>& x, const Tokens& positions) const;

  void members(Members<T>& members) const override;

  const Tensor<T>& table() const { return table_; }  // P [max_len, num_hiddens]

  Dropout<T> dropout;  // applied to the sum

 private:
  Tensor<T> table_;
};

struct LearnedPositionalEncodingOptions {
  Index num_hiddens = 0;  // the size of the vectors
  double dropout = 0.0;   // the probability of dropping an element of the sum
  // The maximum sequence length.
  Index max_len = 1000;
  // The standard deviation of the normal distribution, with mean 0, from which the vectors are
  // initialized; 0.02 as in GPT-2.
  double standard_deviation = 0.02;
};

// Adds a learned vector to each position, `y_i = x_i + weight_i` (Gehring et al., 2017; GPT-2).
//   LearnedPositionalEncoding position({.num_hiddens = 8, .max_len = 100}, random);
//   Var y = position(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API LearnedPositionalEncoding : Module<T> {
  // Throws ValueError unless the sizes are > 0, 0 ≤ dropout ≤ 1 and the standard deviation is
  // finite and ≥ 0.
  LearnedPositionalEncoding(const LearnedPositionalEncodingOptions& options, Random& random);

  // Returns `dropout(x + weight[:time])` for x [batch, time, num_hiddens]; the result has the same
  // shape. Throws ShapeError, and ValueError if time > max_len.
  Var<T> operator()(const Var<T>& x) const;
  // Returns `dropout(x + weight[positions])` for x [batch, time, num_hiddens] and positions [batch,
  // time]; the result has the shape of x. Throws ShapeError, and ValueError unless
  // 0 ≤ positions < max_len.
  Var<T> operator()(const Var<T>& x, const Tokens& positions) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;  // [max_len, num_hiddens]
  Dropout<T> dropout;   // applied to the sum
};

extern template struct PositionalEncoding<float>;
extern template struct PositionalEncoding<double>;
extern template struct LearnedPositionalEncoding<float>;
extern template struct LearnedPositionalEncoding<double>;

}  // namespace weft
