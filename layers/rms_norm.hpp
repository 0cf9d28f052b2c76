// RMSNorm: each vector scaled to root mean square 1, then by trained factors.
#pragma once

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct RMSNormOptions {
  Index num_hiddens = 0;
  double eps = 1e-5;
};

// x / √(mean(x²) + eps) · weight over the last axis (Zhang and Sennrich, 2019). Weight is
// initialized to ones.
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

extern template struct RMSNorm<float>;
extern template struct RMSNorm<double>;

}  // namespace weft
