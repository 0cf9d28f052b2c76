#include "layers/internal/normal_weights.hpp"

namespace weft {

template <class T>
void set_normal_weights(Linear<T>& layer, double standard_deviation, Random& random) {
  layer.weight.set_value(random.normal_tensor<T>(layer.weight.shape(), 0.0, standard_deviation));
  if (layer.bias) layer.bias->set_value(Tensor<T>(layer.bias->shape()));
}

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

template void set_normal_weights(Linear<float>&, double, Random&);
template void set_normal_weights(Linear<double>&, double, Random&);
template void set_normal_weights(TransformerEncoderBlock<float>&, double, double, Random&);
template void set_normal_weights(TransformerEncoderBlock<double>&, double, double, Random&);

}  // namespace weft
