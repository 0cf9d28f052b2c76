// Linear: an affine map of the last axis.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/activation.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct LinearOptions {
  Index in_features = 0;
  Index out_features = 0;
  bool bias = true;
};

// x · weightᵀ + bias. Weight and bias are initialized uniformly over ±1/√in_features, as in
// PyTorch.
template <class T = float>
struct WEFT_API Linear : Module<T> {
  // Throws ValueError unless both sizes are > 0.
  Linear(const LinearOptions& options, Random& random);

  // x [..., in_features], result [..., out_features], with the activation applied to it in the same
  // operation. Throws ShapeError.
  Var<T> operator()(const Var<T>& x, Activation activation = Activation::none) const;

  void members(Members<T>& members) const override;

  Index in_features() const { return weight.shape()[1]; }
  Index out_features() const { return weight.shape()[0]; }

  Parameter<T> weight;               // [out_features, in_features]
  std::optional<Parameter<T>> bias;  // [out_features]
};

extern template struct Linear<float>;
extern template struct Linear<double>;

}  // namespace weft
