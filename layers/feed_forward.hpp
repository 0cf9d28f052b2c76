// PositionWiseFeedForward: a two-layer perceptron applied to each position of a sequence.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/linear.hpp"

namespace weft {

struct PositionWiseFeedForwardOptions {
  // The sizes of the input and output vectors, and of the hidden ones.
  Index num_hiddens = 0;
  Index ffn_num_hiddens = 0;
  Activation activation = Activation::relu;
  // The probability of dropping a hidden element.
  double dropout = 0.0;
  // Whether dense1 and dense2 have a bias.
  bool bias = true;
};

// dense2(dropout(activation(dense1(x)))) (Vaswani et al., 2017, section 3.3).
template <class T = float>
struct WEFT_API PositionWiseFeedForward : Module<T> {
  // Throws ValueError unless the sizes are > 0 and 0 ≤ dropout ≤ 1.
  PositionWiseFeedForward(const PositionWiseFeedForwardOptions& options, Random& random);

  // x [..., num_hiddens], result of the same shape. Throws ShapeError.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Linear<T> dense1, dense2;
  Dropout<T> dropout;
  Activation activation;
};

extern template struct PositionWiseFeedForward<float>;
extern template struct PositionWiseFeedForward<double>;

}  // namespace weft
