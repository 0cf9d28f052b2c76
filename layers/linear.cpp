#include "weft/layers/linear.hpp"

#include <cmath>

#include "weft/autograd/ops/linear.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {

template <class T>
Linear<T>::Linear(const LinearOptions& options, Random& random) {
  check_positive("Linear: in_features", options.in_features);
  check_positive("Linear: out_features", options.out_features);
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.in_features));
  const Shape shape{options.out_features, options.in_features};
  weight = Parameter<T>(random.uniform_tensor<T>(shape, -bound, bound));
  if (options.bias) bias.emplace(random.uniform_tensor<T>({options.out_features}, -bound, bound));
}

template <class T>
Linear<T>::Linear(const Linear& other)
    : Module<T>(other),
      weight(other.weight),
      bias(other.bias),
      map(other.map ? other.map->clone() : nullptr) {}

template <class T>
Linear<T>& Linear<T>::operator=(Linear other) noexcept {
  weight = std::move(other.weight);
  bias = std::move(other.bias);
  map = std::move(other.map);
  return *this;
}

template <class T>
Var<T> Linear<T>::operator()(const Var<T>& x, Activation activation) const {
  if (!map) return own(x, activation);
  const Var<T> y = (*map)(*this, x);
  return activation == Activation::none ? y : activate(y, activation);
}

template <class T>
Var<T> Linear<T>::own(const Var<T>& x, Activation activation) const {
  Tape<T>& tape = x.tape();
  const Var<T> matrix = tape.parameter(weight);
  if (!bias) return linear(x, matrix, activation);
  return linear(x, matrix, tape.parameter(*bias), activation);
}

template <class T>
void Linear<T>::members(Members<T>& members) const {
  members.type("Linear", str_cat("in_features=", in_features(), ", out_features=", out_features(),
                                 ", bias=", python_text(bias.has_value())));
  members("weight", weight);
  members("bias", bias);
  if (map) map->members(members);
}

template struct Linear<float>;
template struct Linear<double>;

}  // namespace weft
