#include "weft/autograd/ops/losses.hpp"

#include "autograd/kernels/arrays.hpp"
#include "autograd/ops/internal/activation_functions.hpp"

namespace weft {
namespace {

void check_sizes(const char* operation, const Shape& x, const Shape& target) {
  if (x != target) fail<ShapeError>(operation, str_cat("targets of shape ", x), target);
  if (x.elements() == 0) fail<ShapeError>(operation, "at least one element", x);
}

template <class T>
Tensor<T> scalar(const Tape<T>& tape, double value) {
  Tensor<T> tensor = tape.uninitialized(Shape{});
  tensor.fill(static_cast<T>(value));
  return tensor;
}

}  // namespace

// Forward:  y = Σ (p - t)² / n.
// Backward: dp = dy · 2 (p - t) / n, dt = -dp.
template <class T>
Var<T> mse_loss(const Var<T>& prediction, const Var<T>& target) {
  Tape<T>& tape = tape_of("mse_loss", prediction, target);
  check_sizes("mse_loss", prediction.shape(), target.shape());
  const Tensor<T>&p = prediction.value(), &t = target.value();
  const auto n = static_cast<double>(p.size());
  const double squares = sum_of_ranges(p.size(), 2, [&](Index begin, Index end) {
    const T *from = p.data(), *to = t.data();
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (Index i = begin; i < end; ++i) {
      const double difference = from[i] - to[i];
      sum += difference * difference;
    }
    return sum;
  });
  return tape.record("mse_loss", scalar(tape, squares / n), {prediction.node(), target.node()},
                     [prediction = prediction.node(), target = target.node(), p, t](
                         Tape<T>& backward, const Tensor<T>& dy) {
                       const T factor = T{2} * dy.item() / static_cast<T>(p.size());
                       const auto add = [&](const Gradient<T>& gradient, const Tensor<T>& a,
                                            const Tensor<T>& b) {
                         if (gradient)
                           parallel_for(p.size(), grain_of(2), [&](Index begin, Index end) {
                             accumulate(gradient, begin, end,
                                        (array(a, begin, end) - array(b, begin, end)) * factor);
                           });
                       };
                       add(backward.gradient(prediction), p, t);
                       add(backward.gradient(target), t, p);
                     });
}

// Forward:  y = Σ (max(x, 0) - t x + log(1 + e^-|x|)) / n, which never overflows.
// Backward: dx = dy · (σ(x) - t) / n.
template <class T>
Var<T> binary_cross_entropy_with_logits(const Var<T>& logits, const Tensor<T>& targets) {
  constexpr const char* name = "binary_cross_entropy_with_logits";
  check_sizes(name, logits.shape(), targets.shape());
  for (Index i = 0; i < targets.size(); ++i)
    if (const T t = targets.data()[i]; !(t >= T{0} && t <= T{1}))
      fail<ValueError>(str_cat(name, ": target at ", targets.shape().position(i)),
                       "a value from 0 to 1", t);
  const auto n = static_cast<double>(targets.size());
  Tensor<T> losses = logits.tape().uninitialized(logits.shape());
  const double sum = sum_of_ranges(targets.size(), 16, [&](Index begin, Index end) {
    const auto x = array(logits.value(), begin, end);
    const auto t = array(targets, begin, end);
    array(losses, begin, end) = x.max(T{0}) - t * x + (-x.abs()).exp().log1p();
    const T* loss = losses.data();
    double part = 0.0;
#pragma omp simd reduction(+ : part)
    for (Index i = begin; i < end; ++i) part += loss[i];
    return part;
  });
  return logits.tape().record(
      name, scalar(logits.tape(), sum / n), {logits.node()},
      [logits = logits.node(), x = logits.value(), targets](Tape<T>& backward,
                                                            const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(logits);
        const T factor = dy.item() / static_cast<T>(targets.size());
        const auto sigmoid = [](T z) { return Sigmoid<T>::value(z); };
        parallel_for(targets.size(), grain_of(16), [&](Index begin, Index end) {
          accumulate(
              dx, begin, end,
              (array(x, begin, end).unaryExpr(sigmoid) - array(targets, begin, end)) * factor);
        });
      });
}

template Var<float> mse_loss(const Var<float>&, const Var<float>&);
template Var<double> mse_loss(const Var<double>&, const Var<double>&);
template Var<float> binary_cross_entropy_with_logits(const Var<float>&, const Tensor<float>&);
template Var<double> binary_cross_entropy_with_logits(const Var<double>&, const Tensor<double>&);

}  // namespace weft
