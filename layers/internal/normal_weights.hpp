// set_normal_weights: the initialization of GPT-2 and BERT.
// Included by definitions only.
#pragma once

#include "weft/layers/linear.hpp"
#include "weft/layers/transformer_encoder.hpp"

namespace weft {

// Draws weights from a normal distribution with this standard deviation, and sets biases to zeros.
template <class T>
void set_normal_weights(Linear<T>& layer, double standard_deviation, Random& random) {
  layer.weight.set_value(random.normal_tensor<T>(layer.weight.shape(), 0.0, standard_deviation));
  if (layer.bias) layer.bias->set_value(Tensor<T>(layer.bias->shape()));
}

// Initializes the linear layers of a block likewise; the standard deviation is `residual` for the
// last layer before each residual connection.
template <class T>
void set_normal_weights(TransformerEncoderBlock<T>& block, double standard_deviation,
                        double residual, Random& random) {
  MultiHeadAttention<T>& attention = block.attention;
  for (Linear<T>* layer : {&attention.W_q, &attention.W_k, &attention.W_v})
    set_normal_weights(*layer, standard_deviation, random);
  set_normal_weights(attention.W_o, residual, random);
  if (auto* ffn = std::get_if<PositionWiseFeedForward<T>>(&block.ffn.layer)) {
    set_normal_weights(ffn->dense1, standard_deviation, random);
    set_normal_weights(ffn->dense2, residual, random);
  } else if (auto* gated = std::get_if<SwiGLU<T>>(&block.ffn.layer)) {
    set_normal_weights(gated->w1, standard_deviation, random);
    set_normal_weights(gated->w3, standard_deviation, random);
    set_normal_weights(gated->w2, residual, random);
  }
}

}  // namespace weft
