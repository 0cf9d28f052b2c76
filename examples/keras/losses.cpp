#include "examples/keras/losses.hpp"

#include <cmath>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/arithmetic.hpp>
#include <weft/autograd/ops/comparison.hpp>
#include <weft/autograd/ops/elementwise.hpp>
#include <weft/autograd/ops/indexing.hpp>
#include <weft/autograd/ops/losses.hpp>
#include <weft/autograd/ops/reductions.hpp>

namespace weft::keras {
namespace {

void check_targets(const Shape& expected, const Tensor<float>& targets) {
  if (targets.shape() != expected) fail<ShapeError>("targets", expected, targets.shape());
}

Var<float> limited(const Var<float>& probabilities) { return clamp(probabilities, 1e-7, 1 - 1e-7); }

// Returns the targets as a constant.
Var<float> probabilities(const Var<float>& outputs, const Tensor<float>& targets) {
  check_targets(outputs.shape(), targets);
  for (float target : targets)
    if (!(target >= 0 && target <= 1))
      fail<ValueError>("targets", "probabilities between 0 and 1", target);
  return outputs.tape().constant(targets);
}

// Formula: -Σ (y log p + (1 - y) log(1 - p)) / n.
Var<float> binary_cross_entropy(const Var<float>& outputs, const Tensor<float>& targets) {
  const Var<float> p = limited(outputs), y = probabilities(outputs, targets);
  return -mean(y * log(p) + (1 - y) * log(1 - p));
}

// Formula: -Σ y log p / n, where Keras divides p by its sum over the classes.
Var<float> categorical_cross_entropy(const Var<float>& outputs, const Tensor<float>& targets) {
  const Var<float> p = limited(outputs / sum(outputs, {-1}, true));
  return -mean(sum(log(p) * probabilities(outputs, targets), {-1}));
}

// Formula: -Σ log p[target] / n.
Var<float> sparse_categorical_cross_entropy(const Var<float>& outputs,
                                            const Tensor<float>& targets) {
  if (outputs.rank() != 2) fail<ShapeError>("outputs", "shape [batch, classes]", outputs.shape());
  const Index batch = outputs.shape()[0], classes = outputs.shape()[1];
  check_targets({batch, 1}, targets);
  Tensor<float> selected(outputs.shape());
  for (Index i = 0; i < batch; ++i) {
    const float target = targets(i, 0);
    if (!(target >= 0 && target < static_cast<float>(classes)) || target != std::floor(target))
      fail<ValueError>("targets", str_cat("classes between 0 and ", classes - 1), target);
    selected(i, static_cast<Index>(target)) = 1;
  }
  const Var<float> p = limited(outputs);
  return -mean(sum(log(p) * outputs.tape().constant(selected), {1}));
}

}  // namespace

KerasLoss loss_named(const std::string& name) {
  const auto pointwise = [](auto loss) {
    return [loss](const Var<float>& outputs, const Tensor<float>& targets) {
      check_targets(outputs.shape(), targets);
      return loss(outputs, outputs.tape().constant(targets));
    };
  };
  if (name == "mean_squared_error" || name == "mse")
    return pointwise([](const Var<float>& x, const Var<float>& y) { return mse_loss(x, y); });
  if (name == "mean_absolute_error" || name == "mae")
    return pointwise([](const Var<float>& x, const Var<float>& y) { return l1_loss(x, y); });
  if (name == "binary_crossentropy") return binary_cross_entropy;
  if (name == "categorical_crossentropy") return categorical_cross_entropy;
  if (name == "sparse_categorical_crossentropy") return sparse_categorical_cross_entropy;
  fail<ValueError>("option --loss",
                   "mse, mae, binary_crossentropy, categorical_crossentropy or "
                   "sparse_categorical_crossentropy",
                   name.empty() ? "none, and the file names none" : "'" + name + "'");
}

}  // namespace weft::keras
