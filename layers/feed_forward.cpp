#include "weft/layers/feed_forward.hpp"

#include "layers/internal/checks.hpp"

namespace weft {
namespace {

const PositionWiseFeedForwardOptions& checked(const PositionWiseFeedForwardOptions& options) {
  check_positive("PositionWiseFeedForward: num_hiddens", options.num_hiddens);
  check_positive("PositionWiseFeedForward: ffn_num_hiddens", options.ffn_num_hiddens);
  return options;
}

}  // namespace

template <class T>
PositionWiseFeedForward<T>::PositionWiseFeedForward(const PositionWiseFeedForwardOptions& options,
                                                    Random& random)
    : dense1({checked(options).num_hiddens, options.ffn_num_hiddens, options.bias}, random),
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

template struct PositionWiseFeedForward<float>;
template struct PositionWiseFeedForward<double>;

}  // namespace weft
