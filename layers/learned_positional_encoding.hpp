// LearnedPositionalEncoding: adds a learned vector for each position.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/random.hpp"
#include "weft/layers/dropout.hpp"

namespace weft {

struct LearnedPositionalEncodingOptions {
  Index num_hiddens = 0;
  double dropout = 0.0;
  // The maximum sequence length.
  Index max_len = 1000;
  // The vectors are initialized from a normal distribution of mean 0 with this standard deviation:
  // 0.02 as in GPT-2.
  double standard_deviation = 0.02;
};

// A learned vector for every position (Gehring et al., 2017; GPT-2).
template <class T = float>
struct WEFT_API LearnedPositionalEncoding : Module<T> {
  // Throws ValueError unless the sizes are > 0, 0 ≤ dropout ≤ 1 and the standard deviation is
  // finite and ≥ 0.
  LearnedPositionalEncoding(const LearnedPositionalEncodingOptions& options, Random& random);

  // dropout(x + weight[0 … time]). x [batch, time, num_hiddens], result of the same
  // shape. Throws ShapeError, and ValueError when time > max_len.
  Var<T> operator()(const Var<T>& x) const;
  // The same for vectors at other positions than 0 … time: those of `positions` [batch, time].
  // Throws ShapeError, and ValueError for a position outside 0 … max_len - 1.
  Var<T> operator()(const Var<T>& x, const Tokens& positions) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;  // [max_len, num_hiddens]
  Dropout<T> dropout;
};

extern template struct LearnedPositionalEncoding<float>;
extern template struct LearnedPositionalEncoding<double>;

}  // namespace weft
