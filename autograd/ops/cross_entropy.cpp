#include "weft/autograd/ops/cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "weft/autograd/operation.hpp"
#include "weft/autograd/ops/linear.hpp"
#include "autograd/internal/checks.hpp"
#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/softmax_rows.hpp"

namespace weft {
namespace {

// Throws unless the options and the targets match logits [..., classes]. Registers the divisor as
// the pass's number of labels. Returns the divisor of the loss.
template <class T>
double checked_divisor(Tape<T>& tape, const Shape& logits, const Tokens& targets,
                       const CrossEntropyOptions& options) {
  if (logits.rank() < 1 || targets.shape() != logits.without(-1))
    fail<ShapeError>("cross_entropy", "logits [..., classes] and targets [...]",
                     str_cat(logits, " and ", targets.shape()));
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0))
    fail<ValueError>("cross_entropy: label_smoothing", "a number from 0 to 1",
                     options.label_smoothing);
  if (options.divisor && !(*options.divisor > 0.0 && std::isfinite(*options.divisor)))
    fail<ValueError>("cross_entropy: divisor", "a finite number > 0", *options.divisor);
  if (options.divisor && options.reduction != Reduction::mean)
    fail<ValueError>("cross_entropy: divisor", "a divisor only for Reduction::mean",
                     *options.divisor);
  const Index classes = logits[-1];
  if (classes == 0) fail<ShapeError>("cross_entropy", "logits of at least one class", logits);
  const std::vector<double>& weights = options.class_weights;
  if (!weights.empty() && std::ssize(weights) != classes)
    fail<ValueError>("cross_entropy: class_weights", str_cat(classes, " weights"), weights.size());
  for (const double weight : weights)
    check_finite_non_negative<T>("cross_entropy: class_weights", weight);
  double counted = 0.0;
  for (Index i = 0; i < targets.size(); ++i) {
    const TokenId target = targets.data()[i];
    if (target == options.ignore_index) continue;
    if (target < 0 || target >= classes)
      fail<ValueError>(
          str_cat("cross_entropy: target at ", targets.shape().position(i)),
          str_cat("a class from 0 to ", classes - 1, " or ignore_index ", options.ignore_index),
          target);
    counted += weights.empty() ? 1.0 : weights[static_cast<std::size_t>(target)];
  }
  if (options.reduction != Reduction::mean) return 1.0;
  const double divisor = options.divisor.value_or(counted);
  tape.count_labels(divisor);
  return divisor > 0.0 ? divisor : 1.0;
}

}  // namespace

// Forward:  l_i = (1 - ε) w[t_i] (log s_i + m_i - x_i[t_i])
//               + ε mean_c w[c] (log s_i + m_i - x_i[c]) for rows that are not ignored, and
//           loss = Σ_i l_i / D, or l, with m_i = max_c x_i[c], s_i = Σ_c exp(x_i[c] - m_i), ε the
//           smoothing, w the weights and D the divisor.
// Backward: dx_i[c] = (a_i exp(x_i[c] - m_i) / s_i - (1 - ε) w[t_i] [c = t_i] - ε w[c] / classes)
//           dy / D with a_i = (1 - ε) w[t_i] + ε mean_c w[c], so only x, m and 1 / s are kept.
template <class T>
Var<T> cross_entropy(const Var<T>& logits, const Tokens& targets,
                     const CrossEntropyOptions& options) {
  Tape<T>& tape = logits.tape();
  const double divisor = checked_divisor(tape, logits.shape(), targets, options);
  const Index rows = targets.size(), classes = logits.shape()[-1];
  const T smoothing = static_cast<T>(options.label_smoothing);
  const TokenId ignore_index = options.ignore_index;
  const bool scalar = options.reduction != Reduction::none;
  Tensor<T> weights = tape.uninitialized({classes});
  weights.fill(T{1});
  for (Index c = 0; const double weight : options.class_weights)
    weights.data()[c++] = static_cast<T>(weight);
  const T mean_weight =
      smoothing > T{0} ? sum_of_row(classes, identity, weights.data()) / static_cast<T>(classes)
                       : T{0};
  // The a_i of a target: exactly 1 if every weight is 1.
  const auto row_weight = [=](T weight) { return weight + smoothing * (mean_weight - weight); };

  Tensor<T> maxima = tape.uninitialized({rows}), factors = tape.uninitialized({rows});
  Tensor<T> y = tape.uninitialized(scalar ? Shape{} : targets.shape());
  // Every term is ≥ 0 and divided before it is added, so no partial sum exceeds the loss.
  const double loss = sum_of_ranges(rows, 16 * classes, [&](Index begin, Index end) {
    const T inverse_classes = T{1} / static_cast<T>(classes);
    double sum = 0.0;
    for (Index row = begin; row < end; ++row) {
      const TokenId target = targets.data()[row];
      if (!scalar) y.data()[row] = T{0};
      if (target == ignore_index) continue;
      const T weight = weights.data()[target];
      const T* x = logits.value().data() + row * classes;
      const T maximum = row_maximum(x, classes);
      const T exponentials = sum_of_row(
          classes, [maximum](const auto& logit) { return fast_exp(logit - maximum); }, x);
      maxima.data()[row] = maximum;
      factors.data()[row] = T{1} / exponentials;
      // Half of maximum - logit, which cannot overflow.
      const auto half_gap = [half = T{0.5} * maximum](const auto& logit) {
        return half - T{0.5} * logit;
      };
      T half_loss = row_weight(weight) * T{0.5} * std::log(exponentials);
      // A weight of 0 is skipped: it would turn an infinite gap into NaN.
      if (smoothing < T{1} && weight > T{0})
        half_loss += (T{1} - smoothing) * weight * half_gap(x[target]);
      if (smoothing > T{0})
        half_loss += smoothing * sum_of_row(
                                     classes,
                                     [&](const auto& logit, const auto& of_class) {
                                       return half_gap(logit) * of_class * inverse_classes;
                                     },
                                     x, weights.data());
      const double of_row = 2.0 * (static_cast<double>(half_loss) / divisor);
      sum += of_row;
      if (!scalar) y.data()[row] = static_cast<T>(of_row);
    }
    return sum;
  });
  if (scalar) y.fill(static_cast<T>(loss));

  return tape.record(
      "cross_entropy", y, {logits.node()},
      [=, x = logits.node(), x_value = logits.value(), targets = tape.keep(targets)](
          Tape<T>& backward, const Tensor<T>& dy) {
        const Index n = x_value.shape()[-1];
        const T uniform = smoothing / static_cast<T>(n);
        const Gradient<T> dx = backward.gradient(x);
        parallel_for(targets.size(), grain_of(16 * n), [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            T* dx_row = dx.data() + row * n;
            const TokenId target = targets.data()[row];
            if (target == ignore_index) {
              if (dx.fresh) std::fill(dx_row, dx_row + n, T{0});
              continue;
            }
            const T* x_row = x_value.data() + row * n;
            const T upstream = static_cast<T>((scalar ? dy.item() : dy.data()[row]) / divisor);
            const T target_weight = weights.data()[target];
            const T maximum = maxima.data()[row];
            const T factor = row_weight(target_weight) * factors.data()[row];
            if (smoothing > T{0}) {
              const auto slope = [=](const auto& logit, const auto& weight) {
                return (fast_exp(logit - maximum) * factor - uniform * weight) * upstream;
              };
              accumulate_row(n, dx_row, dx.fresh, slope, x_row, weights.data());
            } else {
              const auto slope = [=](const auto& logit) {
                return fast_exp(logit - maximum) * factor * upstream;
              };
              accumulate_row(n, dx_row, dx.fresh, slope, x_row);
            }
            dx_row[target] -= (T{1} - smoothing) * target_weight * upstream;
          }
        });
      });
}

// Forward:  the sum of cross_entropy(x_s Wᵀ) over strips s of rows that are not ignored.
// Backward: dy times dx_s and dW. Forward computes both for dy = 1, strip by strip, and adds up dW
//           over the strips.
template <class T>
Var<T> linear_cross_entropy(const Var<T>& x, const Var<T>& weight, const Tokens& targets,
                            const CrossEntropyOptions& options) {
  Tape<T>& tape = tape_of("linear_cross_entropy", x, weight);
  if (weight.rank() != 2 || x.rank() < 1 || x.shape()[-1] != weight.shape()[1])
    fail<ShapeError>("linear_cross_entropy", "input [..., in] and weight [classes, in]",
                     str_cat(x.shape(), " and ", weight.shape()));
  if (options.reduction == Reduction::none)
    fail<ValueError>("linear_cross_entropy: reduction", "Reduction::mean or Reduction::sum",
                     "Reduction::none");
  CrossEntropyOptions of_strip = options;
  of_strip.divisor = checked_divisor(tape, x.shape().with(-1, weight.shape()[0]), targets, options);
  of_strip.reduction = Reduction::mean;
  std::vector<Index> rows;
  for (Index row = 0; row < targets.size(); ++row)
    if (targets.data()[row] != options.ignore_index) rows.push_back(row);

  const auto gradient_of = [&tape](const Var<T>& input) {
    return input.node() == no_node ? Tensor<T>() : tape.zeros(input.shape());
  };
  Tensor<T> dx = gradient_of(x), dw = gradient_of(weight);
  double loss = 0.0;
  constexpr std::size_t most = 256;
  const Index in = weight.shape()[1];
  for (std::size_t begin = 0; begin < rows.size(); begin += most) {
    const auto strip = std::span(rows).subspan(begin, std::min(most, rows.size() - begin));
    const Shape shape{std::ssize(strip)};
    Tensor<T> inputs = tape.uninitialized({shape[0], in});
    Tokens wanted(shape);
    for (Index i = 0; const Index row : strip) {
      std::copy_n(x.value().data() + row * in, in, inputs.data() + i * in);
      wanted.data()[i++] = targets.data()[row];
    }
    Tape<T>& part = tape.replay(tape.random_streams());
    std::vector<Var<T>> leaves;
    const auto leaf = [&](const Var<T>& input, const Tensor<T>& value) {
      if (input.node() == no_node) return part.constant(value);
      return leaves.emplace_back(part.variable(value));
    };
    const Var<T> states = leaf(x, inputs), own_weight = leaf(weight, weight.value());
    const Var<T> of_part = cross_entropy(linear(states, own_weight), wanted, of_strip);
    loss += static_cast<double>(of_part.item());
    if (leaves.empty()) {
      part.clear();
      continue;
    }
    const std::vector<Tensor<T>> gradients = part.gradients(of_part, leaves);
    if (x.node() != no_node)
      for (Index i = 0; const Index row : strip)
        std::copy_n(gradients.front().data() + in * i++, in, dx.data() + row * in);
    if (weight.node() != no_node) Gradient<T>{dw.values(), true}.add(identity, gradients.back());
  }
  Tensor<T> y = tape.uninitialized({});
  *y.data() = static_cast<T>(loss);
  return tape.record(
      "linear_cross_entropy", y, {x.node(), weight.node()},
      [x = x.node(), w = weight.node(), dx, dw](Tape<T>& backward, const Tensor<T>& dy) {
        const auto times_dy = [factor = dy.item()](T value) { return factor * value; };
        backward.gradient(x).add(times_dy, dx);
        backward.gradient(w).add(times_dy, dw);
      });
}

template Var<float> cross_entropy(const Var<float>&, const Tokens&, const CrossEntropyOptions&);
template Var<double> cross_entropy(const Var<double>&, const Tokens&, const CrossEntropyOptions&);
template Var<float> linear_cross_entropy(const Var<float>&, const Var<float>&, const Tokens&,
                                         const CrossEntropyOptions&);
template Var<double> linear_cross_entropy(const Var<double>&, const Var<double>&, const Tokens&,
                                          const CrossEntropyOptions&);

}  // namespace weft
