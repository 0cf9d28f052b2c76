#include "weft/layers/rms_norm.hpp"

#include "weft/autograd/ops/rms_norm.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {

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
  members.type("RMSNorm", concatenate_text("(", weight.size(), ",), eps=", python_text(eps),
                                           ", elementwise_affine=True"));
  members("weight", weight);
}

template struct RMSNorm<float>;
template struct RMSNorm<double>;

}  // namespace weft
