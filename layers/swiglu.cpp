#include "weft/layers/swiglu.hpp"

#include "weft/autograd/ops/arithmetic.hpp"
#include "layers/internal/checks.hpp"

namespace weft {
namespace {

const SwiGLUOptions& checked(const SwiGLUOptions& options) {
  check_positive("SwiGLU: num_hiddens", options.num_hiddens);
  check_positive("SwiGLU: ffn_num_hiddens", options.ffn_num_hiddens);
  return options;
}

}  // namespace

template <class T>
SwiGLU<T>::SwiGLU(const SwiGLUOptions& options, Random& random)
    : w1({checked(options).num_hiddens, options.ffn_num_hiddens, options.bias}, random),
      w2({options.ffn_num_hiddens, options.num_hiddens, options.bias}, random),
      w3({options.num_hiddens, options.ffn_num_hiddens, options.bias}, random),
      dropout(options.dropout) {}

template <class T>
Var<T> SwiGLU<T>::operator()(const Var<T>& x) const {
  return w2(dropout(w1(x, Activation::silu) * w3(x)));
}

template <class T>
void SwiGLU<T>::members(Members<T>& members) const {
  members.type("SwiGLU");
  members("w1", w1);
  members("w2", w2);
  members("w3", w3);
  members("dropout", dropout);
}

template struct SwiGLU<float>;
template struct SwiGLU<double>;

}  // namespace weft
