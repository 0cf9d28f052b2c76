#include "weft/layers/conv1d.hpp"

#include <cmath>

#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/einsum.hpp"
#include "weft/autograd/ops/linear.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "layers/internal/checks.hpp"
#include "layers/internal/python_text.hpp"

namespace weft {
namespace {

UnfoldOptions window_of(const Conv1dOptions& options) {
  check_positive("Conv1d: kernel_size", options.kernel_size);
  check_positive("Conv1d: stride", options.stride);
  check_positive("Conv1d: dilation", options.dilation);
  UnfoldOptions window{
      .size = options.kernel_size, .dilation = options.dilation, .stride = options.stride};
  if (const Index* zeros = std::get_if<Index>(&options.padding)) {
    if (*zeros < 0) fail<ValueError>("Conv1d: padding", "a number of zeros ≥ 0", *zeros);
    window.before = window.after = *zeros;
  }
  check_unfold("Conv1d", window);
  if (std::holds_alternative<Index>(options.padding)) return window;
  const Index zeros = window.span() - 1;
  const bool same = std::get<Padding>(options.padding) == Padding::same;
  if (same && options.stride != 1)
    fail<ValueError>("Conv1d: Padding::same", "a stride of 1", options.stride);
  window.before = same ? zeros / 2 : zeros;
  window.after = zeros - window.before;
  return window;
}

}  // namespace

template <class T>
Conv1d<T>::Conv1d(const Conv1dOptions& options, Random& random)
    : groups(options.groups), window(window_of(options)) {
  check_positive("Conv1d: in_channels", options.in_channels);
  check_positive("Conv1d: out_channels", options.out_channels);
  check_positive("Conv1d: groups", groups);
  if (options.in_channels % groups != 0 || options.out_channels % groups != 0)
    fail<ValueError>("Conv1d: groups",
                     str_cat("a divisor of ", options.in_channels, " and ", options.out_channels),
                     groups);
  const Shape shape{options.out_channels, options.in_channels / groups, options.kernel_size};
  const double bound = 1.0 / std::sqrt(static_cast<double>(shape[1] * shape[2]));
  weight = Parameter<T>(random.uniform_tensor<T>(shape, -bound, bound));
  if (options.bias) bias.emplace(random.uniform_tensor<T>({options.out_channels}, -bound, bound));
}

template <class T>
Var<T> Conv1d<T>::operator()(const Var<T>& x, const ValidLens& valid_lens) const {
  check_sequences("Conv1d", x.shape(), groups * weight.shape()[1]);
  Tape<T>& tape = x.tape();
  if (groups > 1) {
    const Index out = weight.shape()[0] / groups, in = weight.shape()[1];
    const Var<T> rows = unfold(x, window, valid_lens);
    const Index batch = rows.shape()[0], windows = rows.shape()[1];
    const Var<T> y =
        reshape(einsum("bwkgi,goik->bwgo", reshape(rows, {batch, windows, window.size, groups, in}),
                       reshape(tape.parameter(weight), {groups, out, in, window.size})),
                {batch, windows, groups * out});
    return bias ? y + tape.parameter(*bias) : y;
  }
  // The rows of unfold are [kernel_size, in_channels].
  const Var<T> matrix =
      reshape(permute(tape.parameter(weight), {0, 2, 1}), {weight.shape()[0], -1});
  const Var<T> rows = unfold(x, window, valid_lens);
  return bias ? linear(rows, matrix, tape.parameter(*bias)) : linear(rows, matrix);
}

template <class T>
void Conv1d<T>::members(Members<T>& members) const {
  members.type("Conv1d", str_cat(groups * weight.shape()[1], ", ", weight.shape()[0],
                                 ", kernel_size=", window.size, ", stride=", window.stride,
                                 ", padding=(", window.before, ", ", window.after, "), dilation=",
                                 window.dilation, groups > 1 ? str_cat(", groups=", groups) : "",
                                 ", bias=", python_text(bias.has_value())));
  members("weight", weight);
  members("bias", bias);
}

template struct Conv1d<float>;
template struct Conv1d<double>;

}  // namespace weft
