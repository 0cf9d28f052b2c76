// LayerNorm and RMSNorm: normalize each vector, then apply a learned scale.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct LayerNormOptions {
  Index num_hiddens = 0;
  double eps = 1e-5;
  bool bias = true;
};

// Normalizes to mean 0 and variance 1: (x - mean) / √(variance + eps) · weight + bias over the last
// axis (Ba, Kiros and Hinton, 2016). Weight is initialized to ones, bias to zeros.
template <class T = float>
struct WEFT_API LayerNorm : Module<T> {
  // Throws ValueError unless num_hiddens > 0 and eps ≥ 0.
  explicit LayerNorm(const LayerNormOptions& options);

  // x [..., num_hiddens], result of the same shape. Throws ShapeError.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;               // [num_hiddens]
  std::optional<Parameter<T>> bias;  // [num_hiddens]
  double eps;
};

struct RMSNormOptions {
  Index num_hiddens = 0;
  double eps = 1e-5;
};

// Scales to root mean square 1: x / √(mean(x²) + eps) · weight over the last axis (Zhang and
// Sennrich, 2019). Weight is initialized to ones.
template <class T = float>
struct WEFT_API RMSNorm : Module<T> {
  // Throws ValueError unless num_hiddens > 0 and eps ≥ 0.
  explicit RMSNorm(const RMSNormOptions& options);

  // x [..., num_hiddens], result of the same shape. Throws ShapeError.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;  // [num_hiddens]
  double eps;
};

extern template struct LayerNorm<float>;
extern template struct LayerNorm<double>;
extern template struct RMSNorm<float>;
extern template struct RMSNorm<double>;

}  // namespace weft
