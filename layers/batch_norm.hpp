// BatchNorm: normalizes each feature over a batch, then applies a learned scale and bias.
#pragma once

#include <optional>

#include "weft/autograd/export.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

struct BatchNormOptions {
  Index num_features = 0;  // the size of the vectors
  double eps = 1e-5;       // added to the variance, ≥ 0
  // The weight of a batch in the running averages, from 0 to 1, as in torch. Keras's momentum is
  // 1 minus this.
  double momentum = 0.1;
  bool scale = true;  // whether to multiply by a weight
  bool bias = true;   // whether to add a bias
  // Whether `running_var` averages unbiased variances, as in torch, or biased ones, as in Keras.
  bool unbiased = true;
};

// Normalizes each feature to mean 0 and variance 1 (Ioffe and Szegedy, 2015; torch's BatchNorm1d,
// which has the features before the time):
//   y = (x - mean) / √(variance + eps) · weight + bias
// On a training tape, these are the mean and the biased variance over all vectors of the batch, and
// each pass updates the running averages:
//   average = (1 - momentum) · average + momentum · value
// On other tapes, they are the running averages. The weight and the running variance are
// initialized to ones, the bias and the running mean to zeros.
//
// Because training passes change the layer, only one thread at a time may compute them. Trainer
// refuses to divide batches into parts. In `recompute`, a pass updates the averages twice, as in
// torch.
//   BatchNorm norm({.num_features = 8});
//   Var y = norm(x);  // x [2, 5, 8], y [2, 5, 8]
template <class T = float>
struct WEFT_API BatchNorm : Module<T> {
  // Throws ValueError unless num_features > 0, eps ≥ 0 and 0 ≤ momentum ≤ 1.
  explicit BatchNorm(const BatchNormOptions& options);

  // Returns y, of the same shape as x [..., num_features]. With a mask [...], only the vectors that
  // it selects count in the mean and the variance; all vectors are normalized, as in Keras. Throws
  // ShapeError if a shape does not match. On a training tape, throws ShapeError unless there are at
  // least two vectors or, without `unbiased`, one.
  Var<T> operator()(const Var<T>& x, const Tensor<bool>& mask = {}) const;

  void members(Members<T>& members) const override;

  std::optional<Parameter<T>> weight;  // [num_features]
  std::optional<Parameter<T>> bias;    // [num_features]
  mutable Tensor<T> running_mean;      // [num_features]; updated by training passes
  mutable Tensor<T> running_var;       // [num_features]; updated by training passes
  double eps;                          // added to the variance, ≥ 0
  double momentum;                     // the weight of a batch in the running averages
  bool unbiased;                       // whether `running_var` averages unbiased variances
};

extern template struct BatchNorm<float>;
extern template struct BatchNorm<double>;

}  // namespace weft
