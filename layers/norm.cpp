#include "weft/layers/norm.hpp"

#include "weft/autograd/ops/normalization.hpp"
#include "weft/autograd/tape.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {

template <class T>
LayerNorm<T>::LayerNorm(const LayerNormOptions& options) : eps(options.eps) {
  check_positive("LayerNorm: num_hiddens", options.num_hiddens);
  if (!(eps >= 0)) fail<ValueError>("LayerNorm: eps", "a value ≥ 0", eps);
  weight = Parameter<T>(Tensor<T>::full({options.num_hiddens}, T{1}));
  if (options.bias) bias.emplace(Tensor<T>({options.num_hiddens}));
}

template <class T>
Var<T> LayerNorm<T>::operator()(const Var<T>& x) const {
  Tape<T>& tape = x.tape();
  const Var<T> shift = bias ? tape.parameter(*bias) : tape.constant(x.tape().zeros(weight.shape()));
  return layer_norm(x, tape.parameter(weight), shift, eps);
}

template <class T>
void LayerNorm<T>::members(Members<T>& members) const {
  members.type("LayerNorm",
               str_cat("(", weight.size(), ",), eps=", python_text(eps),
                       ", elementwise_affine=True, bias=", python_text(bias.has_value())));
  members("weight", weight);
  members("bias", bias);
}

template <class T>
RMSNorm<T>::RMSNorm(const RMSNormOptions& options) : eps(options.eps) {
  check_positive("RMSNorm: num_hiddens", options.num_hiddens);
  check_at_least("RMSNorm: eps", eps, 0.0);
  weight = Parameter<T>(Tensor<T>::full({options.num_hiddens}, T{1}));
}

template <class T>
Var<T> RMSNorm<T>::operator()(const Var<T>& x) const {
  return rms_norm(x, x.tape().parameter(weight), eps);
}

template <class T>
void RMSNorm<T>::members(Members<T>& members) const {
  members.type("RMSNorm", str_cat("(", weight.size(), ",), eps=", python_text(eps),
                                  ", elementwise_affine=True"));
  members("weight", weight);
}

template struct LayerNorm<float>;
template struct LayerNorm<double>;
template struct RMSNorm<float>;
template struct RMSNorm<double>;

}  // namespace weft
