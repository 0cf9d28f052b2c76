// Affine: a small model with a weight and a bias.
#pragma once

#include <weft/layers/module.hpp>

namespace weft {

template <class T>
struct Affine final : Module<T> {
  Parameter<T> weight;
  Parameter<T> bias;

  // Zeros.
  Affine(const Shape& weight_shape, const Shape& bias_shape)
      : weight(Tensor<T>(weight_shape)), bias(Tensor<T>(bias_shape)) {}
  void members(Members<T>& members) const override {
    members.type("Affine");
    members("weight", weight);
    members("bias", bias);
  }
};

}  // namespace weft
