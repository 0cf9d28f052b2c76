#include "weft/autograd/ops/cross_entropy.hpp"

#include "autograd/kernels/arrays.hpp"
#include "autograd/kernels/softmax_rows.hpp"

namespace weft {
namespace {

// Throws unless the options and the targets match logits [..., classes]. Returns the number of
// targets that are not ignored.
Index check_targets(const Shape& logits, const Tokens& targets,
                    const CrossEntropyOptions& options) {
  if (logits.rank() < 1 || targets.shape() != logits.without(-1))
    fail<ShapeError>("cross_entropy", "logits [..., classes] and targets [...]",
                     concatenate_text(logits, " and ", targets.shape()));
  if (!(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0))
    fail<ValueError>("cross_entropy: label_smoothing", "a number of 0 to 1",
                     options.label_smoothing);
  if (options.divisor && !(*options.divisor > 0.0))
    fail<ValueError>("cross_entropy: divisor", "a number > 0", *options.divisor);
  const Index classes = logits[-1];
  Index counted = 0;
  for (Index i = 0; i < targets.size(); ++i) {
    const TokenId target = targets.data()[i];
    if (target == options.ignore_index) continue;
    if (target < 0 || target >= classes)
      fail<ValueError>(
          concatenate_text("cross_entropy: target at ", targets.shape().position(i)),
          concatenate_text("0 to ", classes - 1, " or the ignored ", options.ignore_index), target);
    ++counted;
  }
  return counted;
}

}  // namespace

// Forward:  loss = Σ_i (L_i - (1 - ε) x_i[t_i] - ε mean_c x_i[c]) / D over the rows that are not
//           ignored, with L_i = log Σ_c exp x_i[c], ε the smoothing and D the divisor.
// Backward: dx_i[c] = (exp(x_i[c] - L_i) - (1 - ε) [c = t_i] - ε / classes) dy / D, so only x and L
//           are kept.
template <class T>
Var<T> cross_entropy(const Var<T>& logits, const Tokens& targets,
                     const CrossEntropyOptions& options) {
  const Index counted = check_targets(logits.shape(), targets, options);
  Pass<T>& pass = logits.pass();
  const Index rows = targets.size(), classes = logits.shape()[-1];
  const T divisor =
      static_cast<T>(options.divisor.value_or(std::max<double>(1.0, static_cast<double>(counted))));
  const T smoothing = static_cast<T>(options.label_smoothing);
  const TokenId ignore_index = options.ignore_index;

  const Index grain = grain_of(16 * classes);
  Tensor<T> log_sums = pass.uninitialized({rows});
  Tensor<T> partial = pass.zeros({(rows + grain - 1) / grain});
  parallel_for(rows, grain, [&](Index begin, Index end) {
    const T inverse_classes = T{1} / static_cast<T>(classes);
    T loss = 0;
    for (Index row = begin; row < end; ++row) {
      const TokenId target = targets.data()[row];
      if (target == ignore_index) continue;
      const T* x = logits.value().data() + row * classes;
      const T maximum = row_maximum(x, classes);
      const T log_sum = std::log(sum_of_row(
          classes, [maximum](const auto& logit) { return fast_exp(logit - maximum); }, x));
      log_sums.data()[row] = maximum + log_sum;
      // Subtracting the maximum first keeps large logits from cancelling.
      const T target_term = (T{1} - smoothing) * (x[target] - maximum);
      // Divides each term by the number of classes, so that the sum cannot overflow.
      const auto term = [=](const auto& logit) { return (logit - maximum) * inverse_classes; };
      const T smoothing_term = smoothing > T{0} ? smoothing * sum_of_row(classes, term, x) : T{0};
      loss += (log_sum - target_term - smoothing_term) / divisor;
    }
    partial.data()[begin / grain] = loss;
  });
  Tensor<T> y = pass.uninitialized({});
  T loss = 0;
  for (T term : partial) loss += term;
  *y.data() = loss;

  return pass.record(
      "cross_entropy", y, {logits.node()},
      [x = logits.node(), x_value = logits.value(), targets = pass.keep(targets), log_sums, divisor,
       smoothing, ignore_index, grain](Pass<T>& backward, const Tensor<T>& dy) {
        const Index n = x_value.shape()[-1];
        const T factor = dy.item() / divisor;
        const T uniform = smoothing / static_cast<T>(n);
        const Gradient<T> dx = backward.gradient(x);
        parallel_for(targets.size(), grain, [&](Index begin, Index end) {
          for (Index row = begin; row < end; ++row) {
            T* dx_row = dx.data() + row * n;
            const TokenId target = targets.data()[row];
            if (target == ignore_index) {
              if (dx.fresh) std::fill(dx_row, dx_row + n, T{0});
              continue;
            }
            const T* x_row = x_value.data() + row * n;
            const T log_sum = log_sums.data()[row];
            const auto slope = [=](const auto& logit) {
              return (fast_exp(logit - log_sum) - uniform) * factor;
            };
            accumulate_row(n, dx_row, dx.fresh, slope, x_row);
            dx_row[target] -= (T{1} - smoothing) * factor;
          }
        });
      });
}

template Var<float> cross_entropy(const Var<float>&, const Tokens&, const CrossEntropyOptions&);
template Var<double> cross_entropy(const Var<double>&, const Tokens&, const CrossEntropyOptions&);

}  // namespace weft
