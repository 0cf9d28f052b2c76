#include "weft/autograd/ops/cross_entropy.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "weft/autograd/operation.hpp"
#include "weft/autograd/ops/linear.hpp"
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
  const Index classes = logits[-1];
  if (classes == 0) fail<ShapeError>("cross_entropy", "logits of at least one class", logits);
  Index counted = 0;
  for (Index i = 0; i < targets.size(); ++i) {
    const TokenId target = targets.data()[i];
    if (target == options.ignore_index) continue;
    if (target < 0 || target >= classes)
      fail<ValueError>(
          str_cat("cross_entropy: target at ", targets.shape().position(i)),
          str_cat("a class from 0 to ", classes - 1, " or ignore_index ", options.ignore_index),
          target);
    ++counted;
  }
  const double divisor = options.divisor.value_or(static_cast<double>(counted));
  tape.count_labels(divisor);
  return divisor > 0.0 ? divisor : 1.0;
}

}  // namespace

// Forward:  loss = Σ_i (log s_i + (1 - ε) (m_i - x_i[t_i]) + ε mean_c (m_i - x_i[c])) / D over the
//           rows that are not ignored, with m_i = max_c x_i[c], s_i = Σ_c exp(x_i[c] - m_i), ε the
//           smoothing and D the divisor.
// Backward: dx_i[c] = (exp(x_i[c] - m_i) / s_i - (1 - ε) [c = t_i] - ε / classes) dy / D, so only
//           x, m and 1 / s are kept.
template <class T>
Var<T> cross_entropy(const Var<T>& logits, const Tokens& targets,
                     const CrossEntropyOptions& options) {
  Tape<T>& tape = logits.tape();
  const double divisor = checked_divisor(tape, logits.shape(), targets, options);
  const Index rows = targets.size(), classes = logits.shape()[-1];
  const T smoothing = static_cast<T>(options.label_smoothing);
  const TokenId ignore_index = options.ignore_index;

  Tensor<T> maxima = tape.uninitialized({rows}), factors = tape.uninitialized({rows});
  // Every term is ≥ 0 and divided before it is added, so no partial sum exceeds the loss.
  const double loss = sum_of_ranges(rows, 16 * classes, [&](Index begin, Index end) {
    const T inverse_classes = T{1} / static_cast<T>(classes);
    double sum = 0.0;
    for (Index row = begin; row < end; ++row) {
      const TokenId target = targets.data()[row];
      if (target == ignore_index) continue;
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
      T half_loss = T{0.5} * std::log(exponentials);
      // A weight of 0 is skipped: it would turn an infinite gap into NaN.
      if (smoothing < T{1}) half_loss += (T{1} - smoothing) * half_gap(x[target]);
      if (smoothing > T{0})
        half_loss +=
            smoothing *
            sum_of_row(
                classes, [&](const auto& logit) { return half_gap(logit) * inverse_classes; }, x);
      sum += 2.0 * (static_cast<double>(half_loss) / divisor);
    }
    return sum;
  });
  Tensor<T> y = tape.uninitialized({});
  *y.data() = static_cast<T>(loss);

  return tape.record(
      "cross_entropy", y, {logits.node()},
      [x = logits.node(), x_value = logits.value(), targets = tape.keep(targets), maxima, factors,
       divisor, smoothing, ignore_index](Tape<T>& backward, const Tensor<T>& dy) {
        const Index n = x_value.shape()[-1];
        const T weight = static_cast<T>(dy.item() / divisor);
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
            const T maximum = maxima.data()[row], factor = factors.data()[row];
            const auto slope = [=](const auto& logit) {
              return (fast_exp(logit - maximum) * factor - uniform) * weight;
            };
            accumulate_row(n, dx_row, dx.fresh, slope, x_row);
            dx_row[target] -= (T{1} - smoothing) * weight;
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
  CrossEntropyOptions of_strip = options;
  of_strip.divisor = checked_divisor(tape, x.shape().with(-1, weight.shape()[0]), targets, options);
  std::vector<Index> rows;
  for (Index row = 0; row < targets.size(); ++row)
    if (targets.data()[row] != options.ignore_index) rows.push_back(row);

  const auto gradient_of = [&tape](const Var<T>& input) {
    return input.node() == no_node ? Tensor<T>() : tape.zeros(input.shape());
  };
  Tensor<T> dx = gradient_of(x), dw = gradient_of(weight);
  double loss = 0.0;
  constexpr std::size_t most = 512;
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
