#include "weft/layers/feed_forward.hpp"

#include "layers/internal/checks.hpp"

namespace weft {
namespace {

template <class Options>
const Options& checked(const std::string& layer, const Options& options) {
  check_positive(layer + ": num_hiddens", options.num_hiddens);
  check_positive(layer + ": ffn_num_hiddens", options.ffn_num_hiddens);
  return options;
}

}  // namespace

template <class T>
PositionWiseFeedForward<T>::PositionWiseFeedForward(const PositionWiseFeedForwardOptions& options,
                                                    Random& random)
    : dense1({checked("PositionWiseFeedForward", options).num_hiddens, options.ffn_num_hiddens,
              options.bias},
             random),
      dense2({options.ffn_num_hiddens, options.num_hiddens, options.bias}, random),
      dropout(options.dropout),
      activation(options.activation) {}

template <class T>
Var<T> PositionWiseFeedForward<T>::operator()(const Var<T>& x) const {
  return dense2(dropout(dense1(x, activation)));
}

template <class T>
void PositionWiseFeedForward<T>::members(Members<T>& members) const {
  members.type("PositionWiseFeedForward", "activation=" + to_string(activation));
  members("dense1", dense1);
  members("dropout", dropout);
  members("dense2", dense2);
}

template <class T>
SwiGLU<T>::SwiGLU(const SwiGLUOptions& options, Random& random)
    : w1({checked("SwiGLU", options).num_hiddens, options.ffn_num_hiddens, options.bias}, random),
      w2({options.ffn_num_hiddens, options.num_hiddens, options.bias}, random),
      w3({options.num_hiddens, options.ffn_num_hiddens, options.bias}, random),
      dropout(options.dropout),
      activation(options.activation) {}

template <class T>
Var<T> SwiGLU<T>::operator()(const Var<T>& x) const {
  return w2(dropout(gated(w1(x), w3(x), activation)));
}

template <class T>
void SwiGLU<T>::members(Members<T>& members) const {
  members.type("SwiGLU",
               activation == Activation::silu ? "" : "activation=" + to_string(activation));
  members("w1", w1);
  members("w2", w2);
  members("w3", w3);
  members("dropout", dropout);
}

template struct PositionWiseFeedForward<float>;
template struct PositionWiseFeedForward<double>;
template struct SwiGLU<float>;
template struct SwiGLU<double>;

}  // namespace weft
