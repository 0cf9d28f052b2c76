// Conv1d: the same linear map of every window of a sequence.
#pragma once

#include <variant>

#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/ops/unfold.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Zeros around a sequence that make the result, with stride 1, as long as the input: on both sides,
// one more at the end where their number is odd (torch's 'same'), or all in front, so that no
// result sees what comes after its own position.
enum class Padding { same, causal };

struct Conv1dOptions {
  Index in_channels = 0;
  Index out_channels = 0;
  // Positions in a window.
  Index kernel_size = 0;
  // How far each window begins after the one before it.
  Index stride = 1;
  // A number of zeros on both sides, or Padding.
  std::variant<Index, Padding> padding = 0;
  // How far the positions of a window are apart.
  Index dilation = 1;
  bool bias = true;
};

// y_t = bias + Σ_j weight[:, :, j] · x_{t · stride + j · dilation - padding in front}. In weft the
// channels are the last axis, [batch, time, channels]; torch.nn.Conv1d has [batch, channels, time].
// The weights are the same in both, and start uniform over ±1/√(in_channels · kernel_size) in both.
template <class T = float>
struct Conv1d : Module<T> {
  // Throws ValueError unless sizes, stride and dilation are > 0 and the padding is ≥ 0, and for
  // Padding::same with a stride that is not 1.
  Conv1d(const Conv1dOptions& options, Random& random);

  // x [batch, time, in_channels], result [batch, windows, out_channels] with windows =
  // ⌊(time + padding - dilation · (kernel_size - 1) - 1) / stride⌋ + 1, padding being the zeros of
  // both sides together. With `valid_lens` [batch], what x holds past the end of a sequence (NaN
  // too) counts as padding: what that sequence would give by itself comes out first, and the rest
  // means nothing. Throws ShapeError, also when no window fits, and ValueError for lengths that are
  // negative or more than the time.
  Var<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {}) const;

  void members(Members<T>& members) override;

  Parameter<T> weight;               // [out_channels, in_channels, kernel_size]
  std::optional<Parameter<T>> bias;  // [out_channels]
  UnfoldOptions window;
};

extern template struct Conv1d<float>;
extern template struct Conv1d<double>;

}  // namespace weft
