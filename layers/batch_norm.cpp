#include "weft/layers/batch_norm.hpp"

#include <algorithm>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/comparison.hpp"
#include "weft/autograd/ops/elementwise.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {

template <class T>
BatchNorm<T>::BatchNorm(const BatchNormOptions& options)
    : eps(options.eps), momentum(options.momentum), unbiased(options.unbiased) {
  check_positive("BatchNorm: num_features", options.num_features);
  check_at_least("BatchNorm: eps", eps, 0.0);
  if (!(momentum >= 0 && momentum <= 1))
    fail<ValueError>("BatchNorm: momentum", "a number from 0 to 1", momentum);
  const Shape shape{options.num_features};
  running_mean = Tensor<T>(shape);
  running_var = Tensor<T>::full(shape, T{1});
  if (options.scale) weight.emplace(running_var.clone());
  if (options.bias) bias.emplace(running_mean.clone());
}

template <class T>
Var<T> BatchNorm<T>::operator()(const Var<T>& x, const Tensor<bool>& mask) const {
  const Index features = running_mean.size();
  if (x.rank() == 0 || x.shape()[-1] != features)
    fail<ShapeError>("BatchNorm", str_cat("shape [..., ", features, "]"), x.shape());
  if (!mask.empty() && mask.shape() != x.shape().without(-1))
    fail<ShapeError>("BatchNorm: mask", x.shape().without(-1), mask.shape());
  Tape<T>& tape = x.tape();
  const Index count =
      mask.empty() ? x.size() / features : std::count(mask.begin(), mask.end(), true);
  if (tape.training() && count < (unbiased ? 2 : 1))
    fail<ShapeError>("BatchNorm: training",
                     unbiased ? "at least two vectors" : "at least one vector",
                     str_cat(count, " in ", x.shape()));

  const Var<T> rows = reshape(x, {x.size() / features, features});
  const auto mean_of = [&](const Var<T>& values) {
    return sum(mask.empty() ? values : where(mask.reshaped({-1, 1}), values, 0), {0}) /
           static_cast<double>(count);
  };
  const auto update = [&](Tensor<T>& average, const Var<T>& value, double factor) {
    std::ranges::transform(average.values(), value.value().values(), average.data(),
                           [&](T old, T next) {
                             return static_cast<T>((1 - momentum) * old + momentum * factor * next);
                           });
  };
  const Var<T> mean = tape.training() ? mean_of(rows) : tape.constant(running_mean);
  const Var<T> centered = rows - mean;
  const Var<T> variance =
      tape.training() ? mean_of(centered * centered) : tape.constant(running_var);
  if (tape.training()) {
    const auto n = static_cast<double>(count);
    update(running_mean, mean, 1.0);
    update(running_var, variance, unbiased ? n / (n - 1) : 1.0);
  }
  Var<T> factor = 1 / sqrt(variance + eps);
  if (weight) factor = factor * tape.parameter(*weight);
  const Var<T> y = centered * factor;
  return reshape(bias ? y + tape.parameter(*bias) : y, x.shape());
}

template <class T>
void BatchNorm<T>::members(Members<T>& members) const {
  members.type("BatchNorm1d",
               str_cat(running_mean.size(), ", eps=", python_text(eps), ", momentum=",
                       python_text(momentum), ", affine=", python_text(weight.has_value()),
                       ", bias=", python_text(bias.has_value()), ", track_running_stats=True"));
  members("weight", weight);
  members("bias", bias);
  members.running_buffer("running_mean", running_mean);
  members.running_buffer("running_var", running_var);
}

template struct BatchNorm<float>;
template struct BatchNorm<double>;

}  // namespace weft
