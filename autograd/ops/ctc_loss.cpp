#include "weft/autograd/ops/ctc_loss.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "weft/autograd/operation.hpp"

namespace weft {
namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

// Returns log(e^a + e^b).
double log_add(double a, double b) {
  if (a == impossible) return b;
  if (b == impossible) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// One sequence: its log-probabilities [time, classes], and its labels l with blanks around each,
// l'_0 = blank, l'_1 = l_0, l'_2 = blank, …, which an alignment passes from left to right.
template <class T>
struct Sequence {
  const T* log_probabilities;
  Index time, classes;
  const TokenId* labels;
  Index num_labels;
  TokenId blank;

  Index states() const { return 2 * num_labels + 1; }
  TokenId label(Index state) const { return state % 2 == 0 ? blank : labels[state / 2]; }
  double emission(Index t, Index state) const {
    return static_cast<double>(log_probabilities[t * classes + label(state)]);
  }
  // Whether an alignment may pass from state - 2 to this state: the blank between two equal labels
  // cannot be left out.
  bool skips_to(Index state) const {
    return state >= 2 && state < states() && state % 2 == 1 && label(state) != label(state - 2);
  }

  // α_t(s) = log-probability of the first t + 1 emissions of alignments that are in state s at t:
  // α_t(s) = log(e^α_{t-1}(s) + e^α_{t-1}(s-1) + [skips_to(s)] e^α_{t-1}(s-2)) + emission(t, s).
  // Returns the log-probability of all alignments.
  double forward(std::vector<double>& alpha) const {
    const Index n = states();
    if (time == 0) return num_labels == 0 ? 0.0 : impossible;
    alpha.assign(static_cast<std::size_t>(time * n), impossible);
    for (Index state = 0; state < std::min<Index>(n, 2); ++state)
      alpha[static_cast<std::size_t>(state)] = emission(0, state);
    for (Index t = 1; t < time; ++t) {
      const double* before = alpha.data() + (t - 1) * n;
      for (Index s = 0; s < n; ++s) {
        double sum = before[s];
        if (s >= 1) sum = log_add(sum, before[s - 1]);
        if (skips_to(s)) sum = log_add(sum, before[s - 2]);
        alpha[static_cast<std::size_t>(t * n + s)] = sum + emission(t, s);
      }
    }
    const double* last = alpha.data() + (time - 1) * n;
    return n == 1 ? last[0] : log_add(last[n - 1], last[n - 2]);
  }

  // β_t(s), the log-probability of the emissions after t of alignments in state s at t, runs from
  // the end. Sets shares[t, c] to the probability that the alignment emits c at t, which is
  // -dl / d log_probabilities[t, c]: Σ_{s: l'_s = c} exp(α_t(s) + β_t(s) - log_probability).
  void shares(const std::vector<double>& alpha, double log_probability, T* shares) const {
    const auto n = static_cast<std::size_t>(states());
    std::vector<double> beta(n, impossible), next(n);
    for (std::size_t s = n - std::min<std::size_t>(n, 2); s < n; ++s) beta[s] = 0.0;
    for (Index t = time - 1; t >= 0; --t) {
      for (Index s = 0; s < states(); ++s) {
        const auto at = static_cast<std::size_t>(s);
        const double alpha_t = alpha[static_cast<std::size_t>(t) * n + at];
        shares[t * classes + label(s)] +=
            static_cast<T>(std::exp(alpha_t + beta[at] - log_probability));
        next[at] = beta[at] + emission(t, s);
      }
      for (Index s = 0; s < states(); ++s) {
        const auto at = static_cast<std::size_t>(s);
        double sum = next[at];
        if (s + 1 < states()) sum = log_add(sum, next[at + 1]);
        if (skips_to(s + 2)) sum = log_add(sum, next[at + 2]);
        beta[at] = sum;
      }
    }
  }
};

void check_options(const Shape& x, const Tokens& targets, const ValidLens& input_lengths,
                   const ValidLens& target_lengths, TokenId blank) {
  if (x.rank() != 3 || targets.rank() != 2 || targets.shape()[0] != x[0])
    fail<ShapeError>("ctc_loss",
                     "log-probabilities [batch, time, classes] and targets [batch, labels]",
                     str_cat(x, " and ", targets.shape()));
  for (const ValidLens* lengths : {&input_lengths, &target_lengths})
    if (lengths->given() && lengths->lengths().rank() != 1)
      fail<ShapeError>("ctc_loss", "lengths [batch]", lengths->lengths().shape());
  input_lengths.check("ctc_loss: input_lengths", x[0], 1, x[1]);
  target_lengths.check("ctc_loss: target_lengths", x[0], 1, targets.shape()[1]);
  if (blank < 0 || blank >= x[2])
    fail<ValueError>("ctc_loss: blank", str_cat("a class from 0 to ", x[2] - 1), blank);
  for (Index i = 0; i < targets.size(); ++i) {
    const Index labels = targets.shape()[1], row = i / labels;
    const TokenId target = targets.data()[i];
    if (i % labels < target_lengths.length(row, 0, labels) &&
        (target < 0 || target >= x[2] || target == blank))
      fail<ValueError>(str_cat("ctc_loss: target at ", targets.shape().position(i)),
                       str_cat("a class from 0 to ", x[2] - 1, " except blank ", blank), target);
  }
}

}  // namespace

// Forward:  l_b = -log Σ_s exp(α_T(s)) over the last two states, by the recursion over t; y = Σ_b
//           l_b w_b with the weights w of the reduction, or l.
// Backward: dx_b[t, c] = -shares_b[t, c] w_b dy. Forward computes shares · w.
template <class T>
Var<T> ctc_loss(const Var<T>& log_probabilities, const Tokens& targets,
                const ValidLens& input_lengths, const ValidLens& target_lengths,
                const CtcLossOptions& options) {
  const Shape& shape = log_probabilities.shape();
  check_options(shape, targets, input_lengths, target_lengths, options.blank);
  const Index batch = shape[0], time = shape[1], classes = shape[2], most = targets.shape()[1];
  if (batch == 0 && options.reduction == Reduction::mean)
    fail<ShapeError>("ctc_loss", "at least one sequence", shape);
  Tape<T>& tape = log_probabilities.tape();
  const bool wanted = log_probabilities.node() != no_node;
  Tensor<T> shares = wanted ? tape.zeros(shape) : Tensor<T>();
  std::vector<double> losses(static_cast<std::size_t>(batch));
  parallel_for(batch, 1, [&](Index begin, Index end) {
    std::vector<double> alpha;
    for (Index b = begin; b < end; ++b) {
      const Sequence<T> sequence{log_probabilities.value().data() + b * time * classes,
                                 input_lengths.length(b, 0, time),
                                 classes,
                                 targets.data() + b * most,
                                 target_lengths.length(b, 0, most),
                                 options.blank};
      const double log_probability = sequence.forward(alpha);
      const bool infinite = log_probability == impossible;
      double weight = 1.0;
      if (options.reduction == Reduction::mean)
        weight /= static_cast<double>(std::max<Index>(sequence.num_labels, 1) * batch);
      losses[static_cast<std::size_t>(b)] =
          infinite && options.zero_infinity ? 0.0 : -log_probability * weight;
      if (!wanted || infinite) continue;
      T* of_sequence = shares.data() + b * time * classes;
      sequence.shares(alpha, log_probability, of_sequence);
      for (Index i = 0; i < sequence.time * classes; ++i) of_sequence[i] *= static_cast<T>(weight);
    }
  });
  const bool scalar = options.reduction != Reduction::none;
  Tensor<T> y = tape.uninitialized(scalar ? Shape{} : Shape{batch});
  double sum = 0.0;
  for (Index b = 0; b < batch; ++b) {
    sum += losses[static_cast<std::size_t>(b)];
    if (!scalar) y.data()[b] = static_cast<T>(losses[static_cast<std::size_t>(b)]);
  }
  if (scalar) y.fill(static_cast<T>(sum));
  return tape.record(
      "ctc_loss", y, {log_probabilities.node()},
      [x = log_probabilities.node(), shares, scalar](Tape<T>& backward, const Tensor<T>& dy) {
        const Gradient<T> dx = backward.gradient(x);
        const Index size = shares.size() / std::max<Index>(shares.shape()[0], 1);
        parallel_for(shares.shape()[0], grain_of(2 * size), [&](Index begin, Index end) {
          for (Index b = begin; b < end; ++b) {
            const T factor = scalar ? dy.item() : dy.data()[b];
            const T* const own = shares.data();
            for (Index i = b * size; i < (b + 1) * size; ++i)
              dx.data()[i] = (dx.fresh ? T{0} : dx.data()[i]) - own[i] * factor;
          }
        });
      });
}

template Var<float> ctc_loss(const Var<float>&, const Tokens&, const ValidLens&, const ValidLens&,
                             const CtcLossOptions&);
template Var<double> ctc_loss(const Var<double>&, const Tokens&, const ValidLens&, const ValidLens&,
                              const CtcLossOptions&);

}  // namespace weft
