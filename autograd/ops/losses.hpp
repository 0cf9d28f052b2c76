// Losses of predictions and targets, element by element, with gradients.
#pragma once

#include <vector>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/reduction.hpp"
#include "weft/autograd/tape.hpp"

namespace weft {

// Returns the mean of the squared errors l (torch's mse_loss):
//   l = (prediction - target)²
// prediction and target have the same shape; the result is a scalar [], or has their shape for
// Reduction::none. Throws ShapeError if the shapes differ or, for Reduction::mean, have no
// elements.
//   Var loss = mse_loss(model(x), tape.constant(Y));
template <class T>
WEFT_API Var<T> mse_loss(const Var<T>& prediction, const Var<T>& target,
                         const LossOptions& options = {});

// Returns the mean of the absolute errors l (torch's l1_loss):
//   l = |prediction - target|
// Shapes and errors are those of `mse_loss`. The gradient of an error of 0 is 0.
//   Var loss = l1_loss(x, target);
template <class T>
WEFT_API Var<T> l1_loss(const Var<T>& prediction, const Var<T>& target,
                        const LossOptions& options = {});

struct HuberLossOptions {
  double delta = 1.0;                     // the error at which the loss becomes linear, > 0
  Reduction reduction = Reduction::mean;  // how the losses are combined
};

// Returns the mean of the losses l, which are quadratic for small errors and linear for large ones
// (Huber, 1964; torch's huber_loss). With the error d = |prediction - target|:
//   l = d² / 2 if d < delta, otherwise delta (d - delta / 2)
// Shapes and errors are those of `mse_loss`. Throws ValueError unless delta > 0.
//   Var loss = huber_loss(x, target, {.delta = 2});
template <class T>
WEFT_API Var<T> huber_loss(const Var<T>& prediction, const Var<T>& target,
                           const HuberLossOptions& options = {});

struct SmoothL1LossOptions {
  double beta = 1.0;                      // the error at which the loss becomes linear, > 0
  Reduction reduction = Reduction::mean;  // how the losses are combined
};

// Returns the mean of the losses l (torch's smooth_l1_loss), which is `huber_loss` divided by beta.
// With the error d = |prediction - target|:
//   l = d² / (2 beta) if d < beta, otherwise d - beta / 2
// Shapes and errors are those of `mse_loss`. Throws ValueError unless beta > 0.
//   Var loss = smooth_l1_loss(x, target, {.beta = 0.5});
template <class T>
WEFT_API Var<T> smooth_l1_loss(const Var<T>& prediction, const Var<T>& target,
                               const SmoothL1LossOptions& options = {});

// Returns the mean of the terms l of the Kullback-Leibler divergence of target probabilities t from
// predicted log-probabilities x (torch's kl_div):
//   l = t (log t - x), and 0 for t = 0
// Shapes and errors are those of `mse_loss`. The divergence of distributions in rows is the sum of
// their terms, so its mean over the rows is (torch's reduction "batchmean"):
//   Var loss = kl_div(log_softmax(x), target, {.reduction = Reduction::sum}) / x.shape()[0];
// Throws ValueError for a negative target, naming its position.
template <class T>
WEFT_API Var<T> kl_div(const Var<T>& log_probabilities, const Var<T>& target,
                       const LossOptions& options = {});

// Options of binary_cross_entropy_with_logits.
struct BinaryCrossEntropyOptions {
  // The weight of the positive examples of each class of the last axis, or one weight for all
  // classes; finite and ≥ 0. If empty, it is 1. A weight above 1 increases the recall.
  std::vector<double> pos_weight = {};
  Reduction reduction = Reduction::mean;  // how the losses are combined
};

// Returns the binary cross entropy of logits x and targets t of the same shape, with 0 ≤ t ≤ 1
// (torch's function of the same name). It is the mean over all elements of
//   l = -w t log σ(x) - (1 - t) log(1 - σ(x))
// with the weight w = pos_weight of the class. The result is a scalar [], or has the shape of x for
// Reduction::none. It is finite for any finite logits up to 1e38. The targets get no gradient.
// Throws ShapeError if the shapes differ or, for Reduction::mean, have no elements. Throws
// ValueError for weights of another number or out of range, and for a target outside [0, 1], naming
// its position.
//   Var loss = binary_cross_entropy_with_logits(x, Tensor<float>({2}, {1, 0}));  // x [2]
template <class T>
WEFT_API Var<T> binary_cross_entropy_with_logits(const Var<T>& logits, const Tensor<T>& targets,
                                                 const BinaryCrossEntropyOptions& options = {});

}  // namespace weft
