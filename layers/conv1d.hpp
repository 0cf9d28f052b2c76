// Conv1d: one-dimensional convolution over a sequence.
#pragma once

#include <variant>

#include "weft/autograd/export.hpp"
#include "weft/autograd/ops/mask.hpp"
#include "weft/autograd/ops/unfold.hpp"
#include "weft/autograd/random.hpp"
#include "weft/autograd/tape.hpp"
#include "weft/layers/module.hpp"

namespace weft {

// Zero padding that makes the result, with stride 1, as long as the input. `same` pads both sides,
// and if the number of zeros is odd, adds the last one at the end (torch's 'same'). `causal` pads
// the start only, so that no result depends on later positions.
enum class Padding { same, causal };

struct Conv1dOptions {
  Index in_channels = 0;   // the size of the input vectors
  Index out_channels = 0;  // the size of the output vectors
  // The number of positions in a window.
  Index kernel_size = 0;
  // The distance between the starts of consecutive windows.
  Index stride = 1;
  // The number of zeros on each side, or a Padding.
  std::variant<Index, Padding> padding = 0;
  // The distance between consecutive positions of a window.
  Index dilation = 1;
  // The number of groups of channels: the outputs of a group depend only on the inputs of the same
  // group. As many groups as input channels make a depthwise convolution. Must divide in_channels
  // and out_channels.
  Index groups = 1;
  bool bias = true;  // whether to add a bias
};

// A convolution over time (torch.nn.Conv1d), where p is the padding at the start:
//   y_t = bias + Σ_j weight_j · x_{t · stride + j · dilation - p}
// The input is [batch, time, channels], whereas torch.nn.Conv1d takes [batch, channels, time].
// Weight and bias have the shapes and initialization of PyTorch: uniform over ±1/√(in_channels /
// groups · kernel_size).
//   Conv1d conv({.in_channels = 8, .out_channels = 16, .kernel_size = 3, .padding = 1}, random);
//   Var y = conv(x);  // x [2, 5, 8], y [2, 5, 16]
template <class T = float>
struct WEFT_API Conv1d : Module<T> {
  // Throws ValueError unless sizes, stride, dilation and groups are > 0, the groups divide both
  // numbers of channels, and the padding is ≥ 0, and for Padding::same with a stride other than 1.
  // Throws ShapeError for sizes that exceed the limits of a Shape.
  Conv1d(const Conv1dOptions& options, Random& random);

  // Maps x [batch, time, in_channels] to [batch, windows, out_channels], where windows = ⌊(time +
  // padding - dilation · (kernel_size - 1) - 1) / stride⌋ + 1 and `padding` is the total of both
  // sides. With valid_lens [batch], the values of x past the end of a sequence, even NaN, are
  // treated as padding: the first results equal the results for the sequence alone, and the
  // remaining results are unspecified. Throws ShapeError, including if x is too short for one
  // window, and ValueError unless 0 ≤ valid_lens ≤ time.
  Var<T> operator()(const Var<T>& x, const ValidLens& valid_lens = {}) const;

  void members(Members<T>& members) const override;

  Parameter<T> weight;               // [out_channels, in_channels / groups, kernel_size]
  std::optional<Parameter<T>> bias;  // [out_channels]
  Index groups;                      // see Conv1dOptions
  UnfoldOptions window;              // the size, stride, dilation and padding of a window
};

extern template struct Conv1d<float>;
extern template struct Conv1d<double>;

}  // namespace weft
