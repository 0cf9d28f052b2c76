// PositionWiseFeedForward and SwiGLU: feed-forward networks applied to each position of a sequence.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/layers/dropout.hpp"
#include "weft/layers/linear.hpp"

namespace weft {

struct PositionWiseFeedForwardOptions {
  Index num_hiddens = 0;                     // the size of the input and output vectors
  Index ffn_num_hiddens = 0;                 // the size of the hidden vectors
  Activation activation = Activation::relu;  // applied to the hidden vectors
  // The probability of dropping a hidden element.
  double dropout = 0.0;
  // Whether dense1 and dense2 have a bias.
  bool bias = true;
};

// A feed-forward network, `y = dense2(dropout(activation(dense1(x))))` (Vaswani et al., 2017,
// section 3.3).
//   PositionWiseFeedForward ffn({.num_hiddens = 8, .ffn_num_hiddens = 32}, random);
//   Var y = ffn(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API PositionWiseFeedForward : Module<T> {
  // Throws ValueError unless the sizes are > 0 and 0 ≤ dropout ≤ 1.
  PositionWiseFeedForward(const PositionWiseFeedForwardOptions& options, Random& random);

  // Returns y, of the same shape as x [..., num_hiddens]. Throws ShapeError if the last axis of x
  // has a different size.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Linear<T> dense1, dense2;  // map to the hidden vectors, and back
  Dropout<T> dropout;        // applied to the hidden vectors
  Activation activation;     // applied to the hidden vectors
};

struct SwiGLUOptions {
  Index num_hiddens = 0;      // the size of the input and output vectors
  Index ffn_num_hiddens = 0;  // the size of the hidden vectors
  // Whether w1, w2 and w3 have a bias.
  bool bias = false;
  // The probability of dropping a hidden element.
  double dropout = 0.0;
  // Applied to the result of w1. With gelu or gelu_tanh, the network is Shazeer's GEGLU.
  Activation activation = Activation::silu;
};

// A gated feed-forward network, `y = w2(dropout(silu(w1(x)) ⊙ w3(x)))` (Shazeer, 2020), optionally
// with another activation in place of silu. Parameters are named as in Llama (Touvron et al.,
// 2023).
//   SwiGLU ffn({.num_hiddens = 8, .ffn_num_hiddens = 24}, random);
//   Var y = ffn(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API SwiGLU : Module<T> {
  // Throws ValueError unless the sizes are > 0 and 0 ≤ dropout ≤ 1.
  SwiGLU(const SwiGLUOptions& options, Random& random);

  // Returns y, of the same shape as x [..., num_hiddens]. Throws ShapeError if the last axis of x
  // has a different size.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  // w1 computes the gate ("gate_proj" in Hugging Face models), w3 the vectors that it multiplies
  // ("up_proj"), and w2 maps back ("down_proj").
  Linear<T> w1, w2, w3;
  Dropout<T> dropout;     // applied to the hidden vectors
  Activation activation;  // applied to the result of w1
};

extern template struct PositionWiseFeedForward<float>;
extern template struct PositionWiseFeedForward<double>;
extern template struct SwiGLU<float>;
extern template struct SwiGLU<double>;

}  // namespace weft
