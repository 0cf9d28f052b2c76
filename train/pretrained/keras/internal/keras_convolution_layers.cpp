#include "train/pretrained/keras/internal/keras_convolution_layers.hpp"

#include <algorithm>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "weft/autograd/ops/einsum.hpp"
#include "weft/autograd/ops/matmul.hpp"
#include "weft/autograd/ops/permute.hpp"
#include "weft/autograd/ops/pooling.hpp"
#include "weft/autograd/ops/reductions.hpp"
#include "weft/autograd/ops/shaping.hpp"
#include "weft/autograd/ops/unfold.hpp"
#include "train/pretrained/keras/internal/keras_activations.hpp"
#include "train/pretrained/keras/internal/keras_config.hpp"

namespace weft {
namespace {

// The windows of a convolution or of pooling.
struct WindowOptions {
  UnfoldOptions unfold;
  std::string padding;
  bool channels_first;

  // Returns the windows over sequences of `time` steps. With "same", TensorFlow's: ⌈time / stride⌉
  // windows, and an odd number of zeros has its last one at the end.
  UnfoldOptions for_time(Index time) const {
    UnfoldOptions options = unfold;
    if (padding == "causal") options.before = options.span() - 1;
    if (padding == "same") {
      const Index windows = (time + options.stride - 1) / options.stride;
      const Index zeros =
          std::max<Index>(0, (windows - 1) * options.stride + options.span() - time);
      options.before = zeros / 2;
      options.after = zeros - options.before;
    }
    return options;
  }

  // Calls `function` with x [batch, time, channels] and the windows.
  template <class T, class Function>
  Var<T> apply(const Var<T>& x, const Function& function) const {
    if (x.rank() != 3) fail<ShapeError>("input", "shape [batch, time, channels]", x.shape());
    if (!channels_first) return function(x, for_time(x.shape()[1]));
    return transpose(function(transpose(x), for_time(x.shape()[2])));
  }
};

WindowOptions read_windows(KerasConfig& config, const char* size, Index stride) {
  WindowOptions windows;
  windows.unfold.size = config.single(size, 2);
  windows.unfold.stride = config.single("strides", stride > 0 ? stride : windows.unfold.size);
  windows.unfold.dilation = config.single("dilation_rate", 1);
  windows.padding = config.text("padding", "valid");
  if (windows.padding != "valid" && windows.padding != "same" && windows.padding != "causal")
    fail<ValueError>("padding", "valid, same or causal", windows.padding);
  const std::string format = config.text("data_format", "channels_last");
  windows.channels_first = format == "channels_first";
  if (!windows.channels_first && format != "channels_last")
    fail<ValueError>("data_format", "channels_last or channels_first", format);
  return windows;
}

// The bias and the activation after a convolution.
template <class T>
struct Finish {
  std::optional<std::size_t> bias;
  KerasActivation<T> activation;

  Finish(KerasLayer<T>& layer, KerasConfig& config, Index channels)
      : activation(keras_activation<T>(config, "activation")) {
    if (config.flag("use_bias", true)) bias = layer.add_parameter(config, "bias", {channels});
  }
  Var<T> operator()(const KerasLayer<T>& self, KerasCall<T>& call, const Var<T>& y) const {
    return activation(bias ? y + self.weight(call, *bias) : y);
  }
};

// Kernel [size, in_channels / groups, filters].
template <class T>
void read_conv1d(KerasLayer<T>& layer, KerasConfig& config) {
  const WindowOptions windows = read_windows(config, "kernel_size", 1);
  const Index filters = config.size("filters"), groups = config.size("groups", 1);
  if (filters % groups != 0) fail<ValueError>("groups", str_cat("a divisor of ", filters), groups);
  layer.add_parameter(config, "kernel", {windows.unfold.size, -1, filters});
  const Finish<T> finish(layer, config, filters);
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    const Var<T> kernel = self.weight(call, 0);
    const Index size = kernel.shape()[0], channels = kernel.shape()[1];
    const auto convolved = [&](const Var<T>& x, const UnfoldOptions& options) {
      if (x.shape()[2] != channels * groups)
        fail<ShapeError>("input", str_cat(channels * groups, " channels"), x.shape());
      std::vector<Var<T>> results;
      for (Index g = 0; g < groups; ++g) {
        const Var<T> part = groups == 1 ? x : slice(x, 2, g * channels, (g + 1) * channels);
        const Index width = filters / groups;
        const Var<T> weight = groups == 1 ? kernel : slice(kernel, 2, g * width, (g + 1) * width);
        results.push_back(matmul(unfold(part, options), reshape(weight, {size * channels, width})));
      }
      return finish(self, call, groups == 1 ? results.front() : concatenate(results, 2));
    };
    return without_mask(windows.apply(call.x(), convolved));
  };
}

// Formula: y[w, c m + i] = Σ_j x[w, j, c] kernel[j, c, i], with m results for each channel.
template <class T>
Var<T> depthwise(const Var<T>& x, const UnfoldOptions& options, const Var<T>& kernel) {
  const Index batch = x.shape()[0], channels = x.shape()[2];
  const Var<T> rows = unfold(x, options);
  const Index count = rows.shape()[1];
  const Var<T> y =
      einsum("bwjc,jcm->bwcm", reshape(rows, {batch, count, options.size, channels}), kernel);
  return reshape(y, {batch, count, channels * kernel.shape()[2]});
}

// Kernels [size, in_channels, multiplier] and [1, in_channels · multiplier, filters].
template <class T>
void read_separable_conv1d(KerasLayer<T>& layer, KerasConfig& config) {
  const bool has_pointwise = layer.class_name == "SeparableConv1D";
  const WindowOptions windows = read_windows(config, "kernel_size", 1);
  const Index multiplier = config.size("depth_multiplier", 1);
  const Index filters = has_pointwise ? config.size("filters") : -1;
  config.require("groups", 1);
  // A DepthwiseConv1D of Keras also has the options of the kernel of a Conv1D, without use.
  config.ignore({"filters", "kernel_regularizer"});
  config.require("kernel_constraint", nullptr);
  const bool is_named_kernel = !has_pointwise && !config.is_keras_2();
  layer.add_parameter(config, is_named_kernel ? "kernel" : "depthwise_kernel",
                      {windows.unfold.size, -1, multiplier}, "depthwise");
  if (has_pointwise) layer.add_parameter(config, "pointwise_kernel", {1, -1, filters}, "pointwise");
  const Finish<T> finish(layer, config, filters);
  layer.compute = [=](const KerasLayer<T>& self, KerasCall<T>& call) {
    const auto convolved = [&](const Var<T>& x, const UnfoldOptions& options) {
      Var<T> y = depthwise(x, options, self.weight(call, 0));
      if (has_pointwise) {
        const Var<T> kernel = self.weight(call, 1);
        y = matmul(y, reshape(kernel, {kernel.shape()[1], kernel.shape()[2]}));
      }
      return finish(self, call, y);
    };
    return without_mask(windows.apply(call.x(), convolved));
  };
}

template <class T>
void read_pooling(KerasLayer<T>& layer, KerasConfig& config) {
  const auto pool = layer.class_name == "MaxPooling1D" ? &max_pool<T> : &average_pool<T>;
  const WindowOptions windows = read_windows(config, "pool_size", 0);
  layer.compute = dropping_mask<T>([=](const Var<T>& x) { return windows.apply(x, pool); });
}

// Pools over all steps. The mean is that of the steps that a mask does not hide; the maximum, as in
// Keras, that of all steps.
template <class T>
void read_global_pooling(KerasLayer<T>& layer, KerasConfig& config) {
  const bool is_max = layer.class_name == "GlobalMaxPooling1D";
  const bool keepdims = config.flag("keepdims", false);
  const Index axis = config.text("data_format", "channels_last") == "channels_first" ? 2 : 1;
  layer.compute = [=](const KerasLayer<T>&, KerasCall<T>& call) {
    const Var<T>& x = call.x();
    if (x.rank() != 3) fail<ShapeError>("input", "shape [batch, time, channels]", x.shape());
    if (is_max) return without_mask(max(x, {axis}, keepdims));
    if (!call.mask()) return without_mask(mean(x, {axis}, keepdims));
    const Var<T> counted = unsqueeze(call.tape.constant(numbers_of<T>(*call.mask(), 0)), 3 - axis);
    return without_mask(sum(x * counted, {axis}, keepdims) / sum(counted, {axis}, keepdims));
  };
}

}  // namespace

template <class T>
KerasReaders<T> keras_convolution_layers() {
  return {{"Conv1D", &read_conv1d<T>},
          {"Convolution1D", &read_conv1d<T>},
          {"SeparableConv1D", &read_separable_conv1d<T>},
          {"SeparableConvolution1D", &read_separable_conv1d<T>},
          {"DepthwiseConv1D", &read_separable_conv1d<T>},
          {"MaxPooling1D", &read_pooling<T>},
          {"AveragePooling1D", &read_pooling<T>},
          {"GlobalMaxPooling1D", &read_global_pooling<T>},
          {"GlobalAveragePooling1D", &read_global_pooling<T>}};
}

template KerasReaders<float> keras_convolution_layers();
template KerasReaders<double> keras_convolution_layers();

}  // namespace weft
