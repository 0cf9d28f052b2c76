// Recurrent layers and convolutions against PyTorch's. write_sequence_layers.py wrote the expected
// values.
#include <weft/layers.hpp>
#include "tests/catch.hpp"
#include "tests/golden/layer_case.hpp"

using namespace weft;

namespace {

constexpr Index inputs = 4, hiddens = 5;

// The states, followed in time by the final states of the layers, as in the file.
template <class T>
Var<T> joined(const RecurrentResult<T>& result) {
  return concatenate(std::vector{result.states, transpose(result.final_states, 0, 1)}, 1);
}

template <class T, class Layer>
void check_recurrent(const std::string& kind, Index num_layers) {
  const std::string name = kind + "_" + std::to_string(num_layers);
  const auto check = [&](const std::string& variant, const std::vector<std::string>& names,
                         const auto& call) {
    Random random(1);
    Layer layer({.input_size = inputs, .num_hiddens = hiddens, .num_layers = num_layers}, random);
    const golden::LayerCase<T> expected(name + variant, "sequence_layers.h5");
    expected.check(layer, names,
                   [&](auto&, const auto& x) { return joined(call(layer, expected, x)); });
  };
  check("", {"x"}, [](const auto& layer, auto&, const auto& x) { return layer(x[0]); });
  check("_lengths", {"x"}, [](const auto& layer, const auto& expected, const auto& x) {
    return layer(x[0], expected.mask().valid_lens);
  });
  check("_initial", {"x", "initial"}, [](const auto& layer, const auto& expected, const auto& x) {
    return layer(x[0], expected.mask().valid_lens, x[1]);
  });
}

template <class T>
void check_convolution(const std::string& name, const Conv1dOptions& options) {
  Random random(1);
  Conv1d<T> layer(options, random);
  golden::LayerCase<T>("conv1d_" + name, "sequence_layers.h5")
      .check(layer, {"x"}, [&](auto&, const auto& x) { return layer(x[0]); });
}

}  // namespace

TEMPLATE_TEST_CASE("torch.nn.RNN, with lengths and initial states", "[golden][RNN]", float,
                   double) {
  check_recurrent<TestType, RNN<TestType>>("rnn", GENERATE(1, 2));
}

TEMPLATE_TEST_CASE("torch.nn.GRU, with lengths and initial states", "[golden][GRU]", float,
                   double) {
  check_recurrent<TestType, GRU<TestType>>("gru", GENERATE(1, 2));
}

TEMPLATE_TEST_CASE("torch.nn.Conv1d", "[golden][Conv1d]", float, double) {
  const auto options = [](Index size) {
    return Conv1dOptions{.in_channels = inputs, .out_channels = hiddens, .kernel_size = size};
  };
  check_convolution<TestType>("plain", options(3));
  check_convolution<TestType>("point", options(1));
  Conv1dOptions padding = options(3), stride = options(3), dilation = options(3), all = options(4);
  padding.padding = 2;
  check_convolution<TestType>("padding", padding);
  stride.padding = 1;
  stride.stride = 2;
  check_convolution<TestType>("stride", stride);
  dilation.padding = 2;
  dilation.dilation = 3;
  check_convolution<TestType>("dilation", dilation);
  all.padding = 5;
  all.stride = 3;
  all.dilation = 2;
  all.bias = false;
  check_convolution<TestType>("all", all);
}

TEMPLATE_TEST_CASE("torch.nn.Conv1d, with output as long as the input", "[golden]", float, double) {
  const auto options = [](Index size, Padding padding, Index dilation) {
    return Conv1dOptions{.in_channels = inputs,
                         .out_channels = hiddens,
                         .kernel_size = size,
                         .padding = padding,
                         .dilation = dilation};
  };
  check_convolution<TestType>("same", options(4, Padding::same, 1));
  check_convolution<TestType>("same_dilated", options(4, Padding::same, 3));
  check_convolution<TestType>("causal", options(3, Padding::causal, 2));
}
