// LayerNorm and RMSNorm: normalize each vector, then apply a learned scale.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct LayerNormOptions {
  Index num_hiddens = 0;  // the size of the vectors
  double eps = 1e-5;      // added to the variance, ≥ 0
  bool bias = true;       // whether to add a bias
};

// Normalizes over the last axis to mean 0 and variance 1 (Ba, Kiros and Hinton, 2016):
//   y = (x - mean(x)) / √(variance(x) + eps) · weight + bias
// The weight is initialized to ones, the bias to zeros.
//   LayerNorm norm({.num_hiddens = 8});
//   Var y = norm(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API LayerNorm : Module<T> {
  // Throws ValueError unless num_hiddens > 0 and eps ≥ 0.
  explicit LayerNorm(const LayerNormOptions& options);

  // Returns y, of the same shape as x [..., num_hiddens]. Throws ShapeError if the last axis of x
  // has a different size.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;               // [num_hiddens]
  std::optional<Parameter<T>> bias;  // [num_hiddens]
  double eps;                        // added to the variance, ≥ 0
};

struct RMSNormOptions {
  Index num_hiddens = 0;  // the size of the vectors
  double eps = 1e-5;      // added to the mean square, ≥ 0
};

// Scales each vector along the last axis to root mean square 1 (Zhang and Sennrich, 2019):
//   y = x / √(mean(x²) + eps) · weight
// The weight is initialized to ones.
//   RMSNorm norm({.num_hiddens = 8});
//   Var y = norm(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API RMSNorm : Module<T> {
  // Throws ValueError unless num_hiddens > 0 and eps ≥ 0.
  explicit RMSNorm(const RMSNormOptions& options);

  // Returns y, of the same shape as x [..., num_hiddens]. Throws ShapeError if the last axis of x
  // has a different size.
  Var<T> operator()(const Var<T>& x) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;  // [num_hiddens]
  double eps;           // added to the mean square, ≥ 0
};

extern template struct LayerNorm<float>;
extern template struct LayerNorm<double>;
extern template struct RMSNorm<float>;
extern template struct RMSNorm<double>;

}  // namespace weft
