#include "weft/autograd/ops/losses.hpp"

#include "autograd/internal/checks.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/ops/internal/activation_functions.hpp"

namespace weft {
namespace {

// Throws ValueError for the first target that is not between `least` and `most`.
template <class T>
void check_targets(const char* operation, const Tensor<T>& targets, const char* expected, T least,
                   T most) {
  for (Index i = 0; i < targets.size(); ++i)
    if (const T t = targets.data()[i]; !(t >= least && t <= most))
      fail<ValueError>(str_cat(operation, ": target at ", targets.shape().position(i)), expected,
                       t);
}

// Records the reduced losses l = value(x, t, constants...) of x and the targets t. `slope` and
// `target_slope` return dl / dx and dl / dt. The functions take and return Eigen arrays of a range
// of elements, each of which costs about `cost` elementary operations.
// Forward:  y = Σ l / n, Σ l or l.
// Backward: dx = dl / dx · dy / n, dl / dx · dy or dl / dx · dy.
template <class T, class Value, class Slope, class TargetSlope, class... Constants>
Var<T> element_losses(const char* name, Reduction reduction, Index cost, const Var<T>& prediction,
                      const Var<T>& target, const Value& value, const Slope& slope,
                      const TargetSlope& target_slope, const Constants&... constants) {
  Tape<T>& tape = tape_of(name, prediction, target);
  const Tensor<T>&x = prediction.value(), &t = target.value();
  if (x.shape() != t.shape())
    fail<ShapeError>(name, str_cat("targets of shape ", x.shape()), t.shape());
  if (x.size() == 0 && reduction == Reduction::mean)
    fail<ShapeError>(name, "at least one element", x.shape());
  const bool scalar = reduction != Reduction::none;
  const T factor = reduction == Reduction::mean ? T{1} / static_cast<T>(x.size()) : T{1};

  Tensor<T> y = tape.uninitialized(scalar ? Shape{} : x.shape());
  if (scalar) {
    const double sum = sum_of_ranges(x.size(), cost, [&](Index begin, Index end) {
      return value(array(x, begin, end), array(t, begin, end), array(constants, begin, end)...)
          .template cast<double>()
          .sum();
    });
    y.fill(
        static_cast<T>(reduction == Reduction::mean ? sum / static_cast<double>(x.size()) : sum));
  } else {
    parallel_for(x.size(), grain_of(cost), [&](Index begin, Index end) {
      array(y, begin, end) =
          value(array(x, begin, end), array(t, begin, end), array(constants, begin, end)...)
              .template cast<T>();
    });
  }
  return tape.record(name, y, {prediction.node(), target.node()},
                     [=, x_node = prediction.node(), t_node = target.node()](Tape<T>& backward,
                                                                             const Tensor<T>& dy) {
                       const auto add = [&](const Gradient<T>& gradient, const auto& slope_of) {
                         if (gradient)
                           parallel_for(x.size(), grain_of(cost), [&](Index begin, Index end) {
                             const auto slopes =
                                 slope_of(array(x, begin, end), array(t, begin, end),
                                          array(constants, begin, end)...);
                             if (scalar)
                               accumulate(gradient, begin, end, slopes * (factor * dy.item()));
                             else
                               accumulate(gradient, begin, end, slopes * array(dy, begin, end));
                           });
                       };
                       add(backward.gradient(x_node), slope);
                       add(backward.gradient(t_node), target_slope);
                     });
}

// Records the losses value(d) of the errors d = prediction - target, with the slope dl / dd. The
// value is computed in double: the square of an error may exceed T's range, and their mean not.
template <class T, class Value, class Slope>
Var<T> error_losses(const char* name, Reduction reduction, const Var<T>& prediction,
                    const Var<T>& target, const Value& value, const Slope& slope) {
  return element_losses(
      name, reduction, 4, prediction, target,
      [value](const auto& x, const auto& t) { return value((x - t).template cast<double>()); },
      [slope](const auto& x, const auto& t) { return slope(x - t); },
      [slope](const auto& x, const auto& t) { return -slope(x - t); });
}

// l = f m (|d| - m / 2), m = min(|d|, length); dl / dd = f d between -f length and f length. Throws
// ValueError, naming `option`, unless length > 0.
template <class T>
Var<T> huber_losses(const char* name, const char* option, double length, double factor,
                    Reduction reduction, const Var<T>& prediction, const Var<T>& target) {
  if (!(length > 0.0 && std::isfinite(length)))
    fail<ValueError>(str_cat(name, ": ", option), "a finite number > 0", length);
  return error_losses(
      name, reduction, prediction, target,
      [length, factor](const auto& d) {
        return d.abs().min(length) * (d.abs() - 0.5 * d.abs().min(length)) * factor;
      },
      [limit = static_cast<T>(length), factor = static_cast<T>(factor)](const auto& d) {
        return d.max(-limit).min(limit) * factor;
      });
}

}  // namespace

// l = d², dl / dd = 2 d.
template <class T>
Var<T> mse_loss(const Var<T>& prediction, const Var<T>& target, const LossOptions& options) {
  return error_losses(
      "mse_loss", options.reduction, prediction, target, [](const auto& d) { return d.square(); },
      [](const auto& d) { return T{2} * d; });
}

// l = |d|, dl / dd = sign(d).
template <class T>
Var<T> l1_loss(const Var<T>& prediction, const Var<T>& target, const LossOptions& options) {
  return error_losses(
      "l1_loss", options.reduction, prediction, target, [](const auto& d) { return d.abs(); },
      [](const auto& d) { return d.sign(); });
}

template <class T>
Var<T> huber_loss(const Var<T>& prediction, const Var<T>& target, const HuberLossOptions& options) {
  return huber_losses("huber_loss", "delta", options.delta, 1.0, options.reduction, prediction,
                      target);
}

template <class T>
Var<T> smooth_l1_loss(const Var<T>& prediction, const Var<T>& target,
                      const SmoothL1LossOptions& options) {
  return huber_losses("smooth_l1_loss", "beta", options.beta, 1.0 / options.beta, options.reduction,
                      prediction, target);
}

// l = t (log t - x), dl / dx = -t, dl / dt = log t + 1 - x.
template <class T>
Var<T> kl_div(const Var<T>& log_probabilities, const Var<T>& target, const LossOptions& options) {
  check_targets("kl_div", target.value(), "a probability", T{0},
                std::numeric_limits<T>::infinity());
  return element_losses(
      "kl_div", options.reduction, 8, log_probabilities, target,
      [](const auto& x, const auto& t) { return (t > T{0}).select(t * (t.log() - x), T{0}); },
      [](const auto&, const auto& t) { return -t; },
      [](const auto& x, const auto& t) { return t.log() + T{1} - x; });
}

// l = (1 - t) max(x, 0) + w t max(-x, 0) + c log(1 + e^-|x|), which never overflows, and
// dl / dx = c σ(x) - w t, with c = 1 + (w - 1) t.
template <class T>
Var<T> binary_cross_entropy_with_logits(const Var<T>& logits, const Tensor<T>& targets,
                                        const BinaryCrossEntropyOptions& options) {
  constexpr const char* name = "binary_cross_entropy_with_logits";
  check_targets(name, targets, "a value from 0 to 1", T{0}, T{1});
  const Shape& shape = logits.shape();
  const std::vector<double>& given = options.pos_weight;
  for (const double weight : given)
    check_finite_non_negative<T>(str_cat(name, ": pos_weight"), weight);
  const std::size_t classes = shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[-1]);
  if (given.size() > 1 && given.size() != classes)
    fail<ValueError>(str_cat(name, ": pos_weight"), str_cat("1 weight or ", classes), given.size());
  Tensor<T> weights = logits.tape().uninitialized(shape);
  weights.fill(static_cast<T>(given.size() == 1 ? given.front() : 1.0));
  if (given.size() > 1)
    for (Index i = 0; i < weights.size(); ++i)
      weights.data()[i] = static_cast<T>(given[static_cast<std::size_t>(i) % classes]);
  return element_losses(
      name, options.reduction, 16, logits, logits.tape().constant(targets),
      [](const auto& x, const auto& t, const auto& w) {
        return (T{1} - t) * x.max(T{0}) + w * t * (-x).max(T{0}) +
               (T{1} + (w - T{1}) * t) * (-x.abs()).exp().log1p();
      },
      [](const auto& x, const auto& t, const auto& w) {
        const auto sigmoid = [](T z) { return Sigmoid<T>::value(z); };
        return (T{1} + (w - T{1}) * t) * x.unaryExpr(sigmoid) - w * t;
      },
      [](const auto&, const auto& t, const auto&) { return t; }, weights);
}

#define WEFT_INSTANTIATE(T)                                                                 \
  template Var<T> mse_loss(const Var<T>&, const Var<T>&, const LossOptions&);               \
  template Var<T> l1_loss(const Var<T>&, const Var<T>&, const LossOptions&);                \
  template Var<T> huber_loss(const Var<T>&, const Var<T>&, const HuberLossOptions&);        \
  template Var<T> smooth_l1_loss(const Var<T>&, const Var<T>&, const SmoothL1LossOptions&); \
  template Var<T> kl_div(const Var<T>&, const Var<T>&, const LossOptions&);                 \
  template Var<T> binary_cross_entropy_with_logits(const Var<T>&, const Tensor<T>&,         \
                                                   const BinaryCrossEntropyOptions&);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)
#undef WEFT_INSTANTIATE

}  // namespace weft
