// LearnedPositionalEncoding: adds to each vector a trained one that belongs to its position.
#pragma once

#include "weft/layers/dropout.hpp"
#include "weft/layers/embedding.hpp"

namespace weft {

struct LearnedPositionalEncodingOptions {
  Index num_hiddens = 0;
  double dropout = 0.0;
  // The longest sequence that can be encoded.
  Index max_len = 1000;
  // The vectors start as normal numbers around 0: 0.02 as in GPT-2.
  double standard_deviation = 0.02;
};

// A vector for every position, found by training (Gehring et al., 2017; GPT-2).
template <class T = float>
struct LearnedPositionalEncoding : Module<T> {
  // Throws ValueError unless the sizes are > 0, 0 ≤ dropout ≤ 1 and the standard deviation is
  // finite and ≥ 0.
  LearnedPositionalEncoding(const LearnedPositionalEncodingOptions& options, Random& random);

  // dropout(x + positions.weight[0 … time]). x [batch, time, num_hiddens], result of the same
  // shape. Throws ShapeError, and ValueError when time > max_len.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) override;

  Embedding<T> positions;  // weight [max_len, num_hiddens]
  Dropout<T> dropout;
};

extern template struct LearnedPositionalEncoding<float>;
extern template struct LearnedPositionalEncoding<double>;

}  // namespace weft
